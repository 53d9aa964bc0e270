//! A small tolerant XML tree with limits.
//!
//! Real world files hold unbound prefixes, `--` in comments and unknown elements; none of that
//! matters here. What does: well-formed nesting, UTF-8, no DOCTYPE, and bounds on everything.

use crate::error::{Error, Place, Warnings, advance};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::cell::Cell;

/// Bytes of a world or model file.
pub(crate) const MAX_SDF: usize = 8 << 20;
/// Bytes of a mesh, whose numbers come as long texts.
pub(crate) const MAX_MESH: usize = 64 << 20;
/// Depth of nesting.
const MAX_DEPTH: usize = 64;
/// Elements of a document.
const MAX_ELEMENTS: usize = 200_000;
/// Attributes of one element.
const MAX_ATTRIBUTES: usize = 64;
/// Attributes of a document in all.
const MAX_ALL_ATTRIBUTES: usize = 1_000_000;

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// Name of the file, for messages.
    pub(crate) file: &'a str,
    bytes: &'a [u8],
    /// The root element.
    pub(crate) root: Element,
    /// Byte offset of the first comment that holds `--`, which strict readers refuse.
    dashed_comment: Option<usize>,
    /// The last place asked for: offset, line, column. The next one is mostly further on.
    asked: Cell<(usize, u32, u32)>,
}

/// One element with what is directly inside it.
#[derive(Debug, Default)]
pub(crate) struct Element {
    /// Tag name as written, prefix included.
    pub(crate) name: String,
    /// Attributes in order; of duplicates the first counts.
    pub(crate) attributes: Vec<(String, String)>,
    /// The text directly inside, joined and trimmed.
    pub(crate) text: String,
    /// Child elements in order.
    pub(crate) children: Vec<Element>,
    /// Byte offset of the start tag.
    pub(crate) offset: usize,
}

impl Element {
    /// Value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// First child of a name.
    pub(crate) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.name == name)
    }

    /// All children of a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |c| c.name == name)
    }

    /// Walks down a path of first children.
    pub(crate) fn path(&self, names: &[&str]) -> Option<&Element> {
        names.iter().try_fold(self, |e, n| e.child(n))
    }
}

impl<'a> Document<'a> {
    /// Parses a document of at most so many bytes.
    pub(crate) fn parse(file: &'a str, bytes: &'a [u8], max_bytes: usize) -> Result<Document<'a>, Error> {
        if bytes.len() > max_bytes {
            let message = format!("file is larger than {} MiB", max_bytes >> 20);
            return Err(Error::file(file, message));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|e| Error::at(Place::at(file, bytes, e.valid_up_to()), "not UTF-8 text"))?;
        let mut parser = Parser { file, bytes, elements: 0, attributes: 0, dashed_comment: None };
        let root = parser.run(text)?;
        Ok(Document { file, bytes, root, dashed_comment: parser.dashed_comment, asked: Cell::new((0, 1, 1)) })
    }

    /// Warns of what was tolerated though it is not XML.
    pub(crate) fn warn_of_tolerated(&self, warnings: &mut Warnings) {
        if let Some(offset) = self.dashed_comment {
            let place = || Place::at(self.file, self.bytes, offset);
            warnings.add("`--` inside a comment is not XML; it was passed over", place);
        }
    }

    /// Where an element starts.
    pub(crate) fn place(&self, e: &Element) -> Place {
        let (offset, line, column) = self.asked.get();
        let (from, start) = if offset <= e.offset { (offset, (line, column)) } else { (0, (1, 1)) };
        let (line, column) = advance(start, &self.bytes[from..e.offset]);
        self.asked.set((e.offset, line, column));
        Place { file: self.file.to_owned(), line, column }
    }

    /// An error at an element.
    pub(crate) fn error(&self, e: &Element, message: impl Into<String>) -> Error {
        Error::at(self.place(e), message)
    }
}

struct Parser<'a> {
    file: &'a str,
    bytes: &'a [u8],
    elements: usize,
    attributes: usize,
    dashed_comment: Option<usize>,
}

impl Parser<'_> {
    fn fail<T>(&self, offset: usize, message: impl Into<String>) -> Result<T, Error> {
        Err(Error::at(Place::at(self.file, self.bytes, offset), message))
    }

    fn run(&mut self, text: &str) -> Result<Element, Error> {
        // A byte order mark is not counted by the reader's positions.
        let bom = text.len() - text.trim_start_matches('\u{feff}').len();
        let mut reader = Reader::from_str(&text[bom..]);
        let mut open: Vec<Element> = Vec::new();
        let mut root: Option<Element> = None;
        loop {
            let offset = bom + reader.buffer_position() as usize;
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(e) => {
                    let message = format!("not well-formed XML: {}", one_line(&e.to_string()));
                    return self.fail(bom + reader.error_position() as usize, message);
                }
            };
            match event {
                Event::Start(tag) => {
                    let element = self.enter(&tag, offset, open.len(), root.is_some())?;
                    open.push(element);
                }
                Event::Empty(tag) => {
                    let element = self.enter(&tag, offset, open.len(), root.is_some())?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => root = Some(element),
                    }
                }
                Event::End(_) => {
                    let Some(mut element) = open.pop() else {
                        return self.fail(offset, "closing tag without an opening one");
                    };
                    trim(&mut element.text);
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => root = Some(element),
                    }
                }
                Event::Text(t) => self.text(&mut open, self.utf8(&t, offset)?, offset)?,
                Event::CData(t) => self.text(&mut open, self.utf8(&t, offset)?, offset)?,
                Event::GeneralRef(r) => {
                    let name = self.utf8(&r, offset)?;
                    let c = match r.resolve_char_ref() {
                        Ok(Some(c)) => c,
                        Ok(None) => match named_entity(name) {
                            Some(c) => c,
                            None => return self.fail(offset, format!("unknown entity &{};", excerpt(name))),
                        },
                        Err(_) => {
                            return self
                                .fail(offset, format!("invalid character reference &{};", excerpt(name)));
                        }
                    };
                    self.text(&mut open, c.encode_utf8(&mut [0; 4]), offset)?;
                }
                Event::DocType(_) => return self.fail(offset, "DOCTYPE is not allowed"),
                Event::Comment(c) if self.dashed_comment.is_none() && c.windows(2).any(|w| w == b"--") => {
                    self.dashed_comment = Some(offset);
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                Event::Eof => break,
            }
        }
        if let Some(e) = open.last() {
            return self.fail(e.offset, format!("<{}> is never closed", excerpt(&e.name)));
        }
        match root {
            Some(root) => Ok(root),
            None => self.fail(self.bytes.len(), "no XML element found"),
        }
    }

    /// A part of the document, which is UTF-8 as a whole.
    fn utf8<'b>(&self, part: &'b [u8], offset: usize) -> Result<&'b str, Error> {
        std::str::from_utf8(part).or_else(|_| self.fail(offset, "not UTF-8 text"))
    }

    fn text(&self, open: &mut [Element], text: &str, offset: usize) -> Result<(), Error> {
        match open.last_mut() {
            Some(e) => e.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return self.fail(offset, "text outside of the root element"),
        }
        Ok(())
    }

    /// An element that starts inside of so many others.
    fn enter(
        &mut self,
        tag: &BytesStart<'_>,
        offset: usize,
        depth: usize,
        has_root: bool,
    ) -> Result<Element, Error> {
        if has_root && depth == 0 {
            return self.fail(offset, "more than one root element");
        }
        if depth >= MAX_DEPTH {
            return self.fail(offset, format!("nested deeper than {MAX_DEPTH} elements"));
        }
        self.element(tag, offset)
    }

    fn element(&mut self, tag: &BytesStart<'_>, offset: usize) -> Result<Element, Error> {
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return self.fail(offset, format!("more than {MAX_ELEMENTS} elements"));
        }
        let mut attributes = Vec::new();
        for attribute in tag.attributes().with_checks(false) {
            if attributes.len() >= MAX_ATTRIBUTES {
                return self.fail(offset, format!("more than {MAX_ATTRIBUTES} attributes on one element"));
            }
            let attribute = match attribute {
                Ok(a) => a,
                Err(e) => return self.fail(offset, format!("bad attribute: {}", one_line(&e.to_string()))),
            };
            let value = match quick_xml::escape::unescape(self.utf8(&attribute.value, offset)?) {
                Ok(v) => v.into_owned(),
                Err(e) => {
                    return self.fail(offset, format!("bad attribute value: {}", one_line(&e.to_string())));
                }
            };
            self.attributes += 1;
            if self.attributes > MAX_ALL_ATTRIBUTES {
                return self.fail(offset, format!("more than {MAX_ALL_ATTRIBUTES} attributes in all"));
            }
            let key = self.utf8(attribute.key.as_ref(), offset)?;
            attributes.push((key.to_owned(), value));
        }
        let name = self.utf8(tag.name().as_ref(), offset)?.to_owned();
        Ok(Element { name, attributes, offset, ..Element::default() })
    }
}

fn trim(text: &mut String) {
    text.truncate(text.trim_end().len());
    let lead = text.len() - text.trim_start().len();
    if lead > 0 {
        text.drain(..lead);
    }
}

fn named_entity(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "apos" => '\'',
        "quot" => '"',
        _ => return None,
    })
}

/// The beginning of a text that came from a file, safe to show in a message.
pub(crate) fn excerpt(text: &str) -> String {
    shortened(text, 40)
}

/// A message of the XML parser, which quotes as much of the file as there is.
fn one_line(message: &str) -> String {
    shortened(message, 120)
}

fn shortened(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}

/// Escapes a text for use between tags or inside a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\r' | '\t' => out.push_str(&format!("&#{};", c as u32)),
            c => out.push(c),
        }
    }
    out
}

//! A tolerant XML parser that builds a tree and enforces limits.
//!
//! Many files contain undeclared namespace prefixes, `--` in comments and unknown elements. The
//! parser accepts all of these. It requires correct nesting and UTF-8, and it refuses a DOCTYPE.
//! The parser limits the size and the depth of a document, and the number of its elements and
//! attributes.

use crate::error::{Error, SourceLocation, Warnings, advance};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::cell::Cell;

/// Maximum size of a world or model file, in bytes.
pub const MAX_SDF: usize = 8 << 20;
/// Maximum size of a mesh file, in bytes. This limit is larger than `MAX_SDF`, because COLLADA
/// stores many numbers as text.
pub const MAX_MESH: usize = 64 << 20;
/// Maximum nesting depth of elements.
const MAX_DEPTH: usize = 64;
/// Maximum number of elements of a document.
const MAX_ELEMENTS: usize = 200_000;
/// Maximum number of attributes of one element.
const MAX_ATTRIBUTES: usize = 64;
/// Maximum number of attributes of a document.
const MAX_ALL_ATTRIBUTES: usize = 1_000_000;

/// A parsed document.
#[derive(Debug)]
pub struct Document<'a> {
    /// Path of the file, for error messages.
    pub file: &'a str,
    bytes: &'a [u8],
    /// The root element.
    pub root: Element,
    /// Byte offset of the first comment that contains `--`, which the XML standard forbids; `None`
    /// if there is no such comment.
    dashed_comment: Option<usize>,
    /// Byte offset, line and column of the last result of `location`. The next call of `location`
    /// continues from this position, because elements are usually located in file order.
    last_location: Cell<(usize, u32, u32)>,
}

/// An element with its attributes, its text and its child elements.
#[derive(Debug, Default)]
pub struct Element {
    /// Tag name as it is in the file, with its namespace prefix.
    pub name: String,
    /// Attributes in file order. If several attributes have the same name, the first one is used.
    pub attributes: Vec<(String, String)>,
    /// The trimmed text of the element. It does not include the text of child elements.
    pub text: String,
    /// Child elements in file order.
    pub children: Vec<Element>,
    /// Byte offset of the start tag in the file.
    pub offset: usize,
}

impl Element {
    /// The value of the attribute `name`; `None` if the element has no such attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The first child with the given name; `None` if there is no such child.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.name == name)
    }

    /// All children with the given name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |c| c.name == name)
    }

    /// Follows a path of names. Each step goes to the first child with the next name. The result is
    /// `None` if such a child is missing.
    pub fn path(&self, names: &[&str]) -> Option<&Element> {
        names.iter().try_fold(self, |e, n| e.child(n))
    }
}

impl<'a> Document<'a> {
    /// Parses a document of at most `max_bytes` bytes.
    pub fn parse(file: &'a str, bytes: &'a [u8], max_bytes: usize) -> Result<Document<'a>, Error> {
        if bytes.len() > max_bytes {
            let message = format!("file is larger than {} MiB", max_bytes >> 20);
            return Err(Error::file(file, message));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|e| Error::at(SourceLocation::at(file, bytes, e.valid_up_to()), "not UTF-8 text"))?;
        let mut parser = Parser { file, bytes, elements: 0, attributes: 0, dashed_comment: None };
        let root = parser.run(text)?;
        let last_location = Cell::new((0, 1, 1));
        Ok(Document { file, bytes, root, dashed_comment: parser.dashed_comment, last_location })
    }

    /// Adds a warning if the parser accepted a comment that contains `--`, which is invalid XML.
    pub fn warn_of_tolerated(&self, warnings: &mut Warnings) {
        if let Some(offset) = self.dashed_comment {
            let location = || SourceLocation::at(self.file, self.bytes, offset);
            warnings.add("`--` inside a comment is not valid XML; the comment is ignored", location);
        }
    }

    /// The location of the start tag of an element.
    pub fn location(&self, e: &Element) -> SourceLocation {
        let (offset, line, column) = self.last_location.get();
        let (from, start) = if offset <= e.offset { (offset, (line, column)) } else { (0, (1, 1)) };
        let (line, column) = advance(start, &self.bytes[from..e.offset]);
        self.last_location.set((e.offset, line, column));
        SourceLocation { file: self.file.to_owned(), line, column }
    }

    /// Creates an error at the location of an element.
    pub fn error(&self, e: &Element, message: impl Into<String>) -> Error {
        Error::at(self.location(e), message)
    }
}

/// The state of `Document::parse`. It contains the counters that the limits apply to.
struct Parser<'a> {
    file: &'a str,
    bytes: &'a [u8],
    elements: usize,
    attributes: usize,
    dashed_comment: Option<usize>,
}

impl Parser<'_> {
    fn fail<T>(&self, offset: usize, message: impl Into<String>) -> Result<T, Error> {
        Err(Error::at(SourceLocation::at(self.file, self.bytes, offset), message))
    }

    fn run(&mut self, text: &str) -> Result<Element, Error> {
        // The byte order mark is skipped. Its length is added to all positions that `quick_xml`
        // reports.
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
                        return self.fail(offset, "closing tag without an opening tag");
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
                    let c = self.referenced_char(&r, offset)?;
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

    /// The character that an entity (`&lt;`) or a character reference (`&#60;`) stands for.
    fn referenced_char(&self, reference: &BytesRef<'_>, offset: usize) -> Result<char, Error> {
        let name = self.utf8(reference, offset)?;
        match reference.resolve_char_ref() {
            Ok(Some(c)) => Ok(c),
            Ok(None) => match named_entity(name) {
                Some(c) => Ok(c),
                None => self.fail(offset, format!("unknown entity &{};", excerpt(name))),
            },
            Err(_) => self.fail(offset, format!("invalid character reference &{};", excerpt(name))),
        }
    }

    /// Converts a slice of the document to text. No error is expected, because the whole document
    /// was checked to be UTF-8.
    fn utf8<'b>(&self, part: &'b [u8], offset: usize) -> Result<&'b str, Error> {
        std::str::from_utf8(part).or_else(|_| self.fail(offset, "not UTF-8 text"))
    }

    fn text(&self, open: &mut [Element], text: &str, offset: usize) -> Result<(), Error> {
        match open.last_mut() {
            Some(e) => e.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return self.fail(offset, "text outside the root element"),
        }
        Ok(())
    }

    /// Reads a start tag. `depth` is the number of open elements around the tag.
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
                return self.fail(offset, format!("more than {MAX_ALL_ATTRIBUTES} attributes in the file"));
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

/// Shortens a text of a file to 40 characters and replaces control characters by spaces. The result
/// is for messages.
pub fn excerpt(text: &str) -> String {
    shortened(text, 40)
}

/// Shortens a message of `quick_xml`, because such a message may quote a large part of the file.
fn one_line(message: &str) -> String {
    shortened(message, 120)
}

fn shortened(text: &str, limit: usize) -> String {
    let mut short: String = text.chars().take(limit).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(limit).is_some() {
        short.push('…');
    }
    short
}

/// Escapes a text. The result can be used between tags or in a quoted attribute.
pub fn escape(text: &str) -> String {
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

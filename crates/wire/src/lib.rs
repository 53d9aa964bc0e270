//! Every word that crosses a process.

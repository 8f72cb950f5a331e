//! The page for people: files that the directory `page` of the repository builds from its sources and locked packages.
//! They are part of the binary, so the page needs no other server.

/// A file of the page.
pub(super) struct PageFile {
    path: &'static str,
    /// Its media type.
    pub(super) media_type: &'static str,
    /// Its content.
    pub(super) content: &'static str,
}

static FILES: [PageFile; 3] = [
    PageFile {
        path: "/",
        media_type: "text/html; charset=utf-8",
        content: include_str!("../../../../page/src/index.html"),
    },
    PageFile {
        path: "/page.js",
        media_type: "text/javascript; charset=utf-8",
        content: include_str!("page/page.js"),
    },
    PageFile {
        path: "/page.css",
        media_type: "text/css; charset=utf-8",
        content: include_str!("page/page.css"),
    },
];

/// Returns the file of a path.
pub(super) fn file(path: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.path == path)
}

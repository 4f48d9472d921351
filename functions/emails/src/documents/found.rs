//! Reads the templates, themes and drafts of emails.

use errors::Error;
use flows::App;
use model::document::{DocumentKind, MailDocument, builtin};
use store::document::{DocumentRow, document_key};
use wire::id::{DocumentId, ProjectId};

/// The project's documents with the given ids. If the project has no document with an id, the entry
/// is the default document with that id. An entry is `None` if there is no default either, or if no
/// document was requested.
pub(crate) async fn documents<const N: usize>(
    app: &App,
    project: &ProjectId,
    wanted: [Option<(DocumentKind, DocumentId)>; N],
) -> Result<[Option<MailDocument>; N], Error> {
    let key = |(kind, id)| document_key(project, kind, id);
    let mut items = app.store.get_many(wanted.into_iter().flatten().map(key)).await?;
    let mut found = [const { None }; N];
    for (place, wanted) in found.iter_mut().zip(wanted) {
        let Some((kind, id)) = wanted else { continue };
        let own = items.take(&key((kind, id))).map(DocumentRow::of).transpose()?.map(|row| row.document);
        *place = own.or_else(|| builtin::document(kind, id));
    }
    Ok(found)
}

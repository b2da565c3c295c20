-- Contents are looked for within one workspace.
create index files_by_content on studio.files (hash, workspace_id);
create index file_changes_by_content on studio.file_changes (hash, workspace_id);
drop index studio.files_by_hash;
drop index studio.file_changes_by_hash;

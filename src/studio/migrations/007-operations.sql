-- What a device calls its changes is its own: others may count theirs the same way.
drop index studio.file_changes_by_op;
create unique index file_changes_by_op on studio.file_changes (workspace_id, device_id, op_id)
  where op_id is not null;

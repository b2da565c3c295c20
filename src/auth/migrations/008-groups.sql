-- The groups that a user was in when the identity provider last told, mapped or not. Null for users
-- whose roles an administrator gave, and for those who have not logged in since there is this column.
alter table auth.users add column groups text[];

-- Words are made by whoever stores a message: those of a question with the end of its answer, because its
-- user waits for the first word of that. Until then they are null.
alter table chat.messages alter column words drop expression;

-- What belongs to a conversation goes with it. That it is there when something is added, the statements see
-- to, which lock it: a foreign key would look it up once more for each row, while users wait.
alter table chat.messages drop constraint messages_conversation_id_fkey;
alter table chat.turns drop constraint turns_conversation_id_fkey;

create function chat.clear_conversation() returns trigger
language plpgsql
as $$
begin
  delete from chat.messages where conversation_id = old.id;
  delete from chat.turns where conversation_id = old.id;
  return null;
end
$$;

create trigger clear_conversation after delete on chat.conversations
  for each row execute function chat.clear_conversation();

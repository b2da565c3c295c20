-- The words of a text in the form in which they are compared, each once.
create function chat.lexemes_of(content text) returns text[]
language sql immutable parallel safe
as $$
  select tsvector_to_array(to_tsvector('chat.words'::regconfig, content))
$$;

-- What a search for words sees of a text, all of it: a list, because a tsvector holds 1 MB at most. It is
-- made of parts for which a tsvector has room, four bytes a character at most; they overlap, so that a word
-- at a border stands whole in one of both. Signs part words, and characters of scripts without spaces stand
-- alone.
create function chat.all_words_of(content text) returns text[]
language plpgsql immutable parallel safe
as $$
declare
  is_ascii boolean := octet_length(content) = length(content);
  spaced text := regexp_replace(content, '[-_./\\@:+=&?#~%<>*|^$`]+', ' ', 'g');
  words text[];
begin
  if not is_ascii then
    spaced := regexp_replace(
      spaced,
      '([\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])',
      E' \\1 ',
      'g'
    );
  end if;
  if length(spaced) <= 200000 then
    words := chat.lexemes_of(spaced);
  else
    select array_agg(distinct lexeme) into words
    from generate_series(1, length(spaced), 200000) as start
    cross join unnest(chat.lexemes_of(substr(spaced, start, 200200))) as lexeme;
  end if;
  -- Word by word: the whole of a long text takes seconds.
  if not is_ascii then
    select array_agg(distinct chat.lowered(word)) into words from unnest(words) as word;
  end if;
  return coalesce(words, '{}');
end
$$;

alter table chat.messages drop column words;
drop function chat.words_of(text);

-- Stored, because making them anew for each candidate of a search costs thirty times as much.
alter table chat.messages add column words text[] collate "C"
  generated always as (chat.all_words_of(content)) stored;

create index messages_by_words on chat.messages using gin (words)
  with (gin_pending_list_limit = 512);

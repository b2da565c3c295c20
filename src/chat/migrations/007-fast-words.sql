-- In lower case by the rules of Unicode, which ICU knows; a server without it keeps the function that
-- replaces letter by letter.
do $do$
begin
  if exists (
    select 1 from pg_catalog.pg_collation
    where collname = 'und-x-icu' and collnamespace = 'pg_catalog'::regnamespace
  ) then
    create or replace function chat.lowered(content text) returns text
    language sql immutable parallel safe
    as $$
      select lower(content collate "und-x-icu")
    $$;
  end if;
end
$do$;

-- What a search for words sees of a text, all of it: a list, because a tsvector holds 1 MB at most. Signs
-- part words, and characters of scripts without spaces stand alone. Of a long text each word is parsed once,
-- because parsing takes most of the time. Parsed are parts for which a tsvector has room, four bytes a
-- character at most; they overlap, so that a word at a border stands whole in one of both.
create or replace function chat.all_words_of(content text) returns text[]
language plpgsql immutable parallel safe
as $$
declare
  spaced text := regexp_replace(content, '[\s,;()"\[\]{}!''\-_./\\@:+=&?#~%<>*|^$`]+', ' ', 'g');
  words text[];
begin
  if octet_length(content) > length(content) then
    spaced := regexp_replace(
      spaced,
      '([\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])',
      E' \\1 ',
      'g'
    );
  end if;
  if length(spaced) > 20000 then
    select string_agg(word, ' ') into spaced
    from (select distinct unnest(string_to_array(spaced, ' ')) as word) once;
  end if;
  if octet_length(spaced) > length(spaced) then
    spaced := chat.lowered(spaced);
  end if;
  if length(spaced) <= 200000 then
    words := chat.lexemes_of(spaced);
  else
    select array_agg(distinct lexeme) into words
    from generate_series(1, length(spaced), 200000) as start
    cross join unnest(chat.lexemes_of(substr(spaced, start, 200200))) as lexeme;
  end if;
  return coalesce(words, '{}');
end
$$;

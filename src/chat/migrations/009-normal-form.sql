-- A text in the form in which texts and queries are compared: NFKC of Unicode, so that it does not matter how
-- a character was written. Putting marks into their order takes the square of the length of their run, so
-- runs of what is not known to be without marks end after a hundred characters.
create function chat.normal_form(content text) returns text
language sql immutable parallel safe
as $$
  select normalize(
    regexp_replace(
      content,
      '([^\x01-\u02ff\u0370-\u0482\u3030-\u3096\u30a0-\u9fff\uac00-\ud7a3]{100})',
      E'\\1 ',
      'g'
    ),
    NFKC
  )
$$;

-- What a search for words sees of a text, all of it: a list, because a tsvector holds 1 MB at most. Signs
-- part words, also where the normal form makes letters or digits of them: "Brand™" is found as "BrandTM" and
-- as "Brand". Characters of scripts without spaces stand alone. Of a long text each word is parsed once,
-- because parsing takes most of the time. Parsed are parts for which a tsvector has room, four bytes a
-- character at most; they overlap, so that a word at a border stands whole in one of both.
create or replace function chat.all_words_of(content text) returns text[]
language plpgsql immutable parallel safe
as $$
declare
  -- what becomes letters or digits and is neither: ¹, ½, ™, ℃, ①, ㎏
  signs constant text :=
    '([\u00aa\u00b2\u00b3\u00b9\u00ba\u00bc-\u00be\u2070-\u209c\u20a8\u2100-\u2189\u2460-\u24ff\u3200-\u33ff'
    '\ufdfc\U0001f100-\U0001f2ff])';
  form text := content;
  spaced text;
  words text[];
begin
  if octet_length(content) > length(content) and content is not nfkc normalized then
    form := chat.normal_form(content);
    if content ~ signs then
      form := form || ' ' || chat.normal_form(regexp_replace(content, signs, E' \\1 ', 'g'));
    end if;
  end if;
  spaced := regexp_replace(form, '[\s,;()"\[\]{}!''\-_./\\@:+=&?#~%<>*|^$`]+', ' ', 'g');
  if octet_length(spaced) > length(spaced) then
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

-- How far the words of stored messages have been made anew, which is done in the background, because it
-- takes minutes for a large table. Without a row all are.
create table chat.words_renewal (
  -- all messages up to this id have been
  renewed_to text not null
);

insert into chat.words_renewal (renewed_to)
  select '' where exists (select 1 from chat.messages);

-- English words by their stems, all others as they are; no word is left out.
create text search dictionary chat.stems (template = pg_catalog.snowball, language = english);
create text search configuration chat.words (copy = pg_catalog.simple);
alter text search configuration chat.words
  alter mapping for asciiword, asciihword, hword_asciipart with chat.stems;

-- In lower case, also where the database knows that of ASCII alone. Most texts are ASCII.
create function chat.lowered(content text) returns text
language sql immutable parallel safe
as $$
  select lower(case when octet_length(content) = length(content) then content else translate(
    content,
      'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽ'
      'ĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŹŻŽΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΆΈΉΊΌ'
      'ΎΏЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ',
      'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľ'
      'ŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷźżžαβγδεζηθικλμνξοπρστυφχψωάέήίό'
      'ύώѐёђѓєѕіїјљњћќѝўџабвгдежзийклмнопрстуфхцчшщъыьэюя'
  ) end)
$$;

-- What a search for words sees of a text: its beginning, because a tsvector holds 1 MB at most. Signs
-- part words, and characters of scripts without spaces stand alone.
create function chat.words_of(content text) returns tsvector
language sql immutable parallel safe
as $$
  select to_tsvector(
    'chat.words'::regconfig,
    case when octet_length(plain) = length(plain) then plain else regexp_replace(
      chat.lowered(plain),
      '([\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])',
      E' \\1 ',
      'g'
    ) end
  )
  from (
    select translate(left(content, 50000), '-_./\@:+=&?#~%<>*|^$`', '                     ') as plain
  ) part
$$;

-- Stored, because making them anew for each candidate of a search costs thirty times as much.
alter table chat.messages
  add column words tsvector generated always as (chat.words_of(content)) stored;

create index messages_by_words on chat.messages using gin (words)
  with (gin_pending_list_limit = 512);

-- Who embedded. The same name with other weights is another one.
create table chat.search_embedders (
  id integer generated always as identity primary key,
  name text not null,
  dimensions integer not null,
  -- its vector of a fixed text, by which it is known again
  probe bytea not null,
  -- how its cosines are turned into scores
  cosine_weight double precision not null,
  cosine_bias double precision not null,
  both_weight double precision not null,
  both_bias double precision not null,
  -- all messages up to this id have vectors
  indexed_to text not null default ''
);

create table chat.message_vectors (
  message_id text not null references chat.messages (id) on delete cascade,
  embedder_id integer not null references chat.search_embedders (id) on delete cascade,
  owner_id text not null,
  conversation_id text not null,
  created_at timestamptz not null,
  -- 8-bit numbers, one vector behind the other for each passage; empty when the embedder refused it
  vectors bytea not null,
  primary key (message_id, embedder_id)
);

create index vectors_of_owner on chat.message_vectors (owner_id, embedder_id, message_id);

-- Which replica embeds.
create table chat.search_lease (
  name text primary key,
  holder text not null,
  held_until timestamptz not null
);

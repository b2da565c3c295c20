-- Takes from buckets, one ask after the other. `keys` are distinct and sorted, so that replicas lock
-- in one order; `slots` says which key an ask is about, `groups` which asks get all or nothing,
-- `spacings` the seconds in which one attempt grows back, `attempts` the bucket's size. An ask first
-- gives back `backs`, then gets at least `needs` if they are there, and up to `wants` as long as
-- that is no more than a quarter of what is left.
create or replace function auth.take_allowances(
  keys text[], groups integer[], slots integer[], spacings float8[], attempts float8[],
  backs float8[], needs float8[], wants float8[]
) returns table (granted float8, remaining float8, full_in float8, wait float8)
language plpgsql as $$
declare
  fulls float8[];
  moment float8;
  place integer := 1;
  last integer;
  slot integer;
  is_refused boolean;
begin
  -- What has expired may be deleted between the two statements.
  loop
    insert into auth.allowances (key, full_at)
    select key, clock_timestamp() from unnest(keys) with ordinality as asked (key, place)
    order by asked.place on conflict do nothing;
    select array_agg(extract(epoch from full_at)::float8 order by row_place) into fulls from (
      select bucket.full_at, asked.place as row_place
      from unnest(keys) with ordinality as asked (key, place)
      join auth.allowances bucket on bucket.key = asked.key
      order by asked.place for update of bucket
    ) as locked;
    exit when cardinality(fulls) = cardinality(keys);
  end loop;
  moment := extract(epoch from clock_timestamp())::float8;

  while place <= cardinality(groups) loop
    last := place;
    while last < cardinality(groups) and groups[last + 1] = groups[place] loop
      last := last + 1;
    end loop;
    is_refused := false;
    for at in place .. last loop
      slot := slots[at];
      -- No bucket is emptier than empty, which it may look after the clock was set back.
      fulls[slot] := greatest(moment,
        least(fulls[slot], moment + attempts[at] * spacings[at]) - backs[at] * spacings[at]);
      is_refused := is_refused or (needs[at] > 0
        and floor(attempts[at] - (fulls[slot] - moment) / spacings[at] + 1e-3) < 1);
    end loop;
    for at in place .. last loop
      slot := slots[at];
      remaining := floor(attempts[at] - (fulls[slot] - moment) / spacings[at] + 1e-3);
      granted := 0;
      if not is_refused and needs[at] > 0 then
        granted := least(remaining, greatest(needs[at], least(wants[at], floor(remaining / 4))));
        fulls[slot] := fulls[slot] + granted * spacings[at];
      end if;
      remaining := greatest(0, remaining - granted);
      full_in := fulls[slot] - moment;
      wait := greatest(0, full_in - (attempts[at] - 1) * spacings[at]);
      return next;
    end loop;
    place := last + 1;
  end loop;

  update auth.allowances as bucket set full_at = to_timestamp(fulls[asked.place])
  from unnest(keys) with ordinality as asked (key, place) where bucket.key = asked.key;
end
$$;

-- What was spent on a day; kept for ever.
create table gateway.spend_days (
  subject text not null,
  -- In UTC.
  day date not null,
  provider text not null,
  model text not null,
  -- The payer's name for people, as it was last.
  name text,
  requests bigint not null,
  -- Of the requests, those answered from the cache: they took no tokens and cost nothing.
  cached_requests bigint not null,
  input_tokens bigint not null,
  -- Of the input, read from the provider's own cache.
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  dollars numeric not null,
  primary key (subject, day, provider, model)
);
create index spend_days_day on gateway.spend_days (day);

-- How far the journal of each process was moved here, so that nothing is counted twice.
create table gateway.spend_runs (
  run text primary key,
  -- The last entry that is counted; -1 before any.
  through bigint not null,
  moved_at timestamptz not null default clock_timestamp()
);

create table gateway.budgets (
  subject text primary key,
  -- [{unit, amount, period}]
  limits jsonb not null,
  updated_at timestamptz not null default clock_timestamp()
);

-- What requests on their way may still spend.
create table gateway.reservations (
  id text primary key,
  subject text not null,
  tokens numeric not null,
  dollars numeric not null,
  made_at timestamptz not null default clock_timestamp(),
  -- From then on it counts no more: its process is dead.
  expires_at timestamptz not null
);
create index reservations_subject on gateway.reservations (subject);
create index reservations_expiry on gateway.reservations (expires_at);

-- Counts sums of one process's journal, and frees what was held for them, if it was counted through
-- the entry `after` exactly, else nothing. Answers through which entry it is counted now.
create function gateway.record_spends(
  of_run text, after bigint, new_through bigint, days date[], subjects text[], names text[],
  providers text[], models text[], requests bigint[], cached_requests bigint[], inputs bigint[],
  cached_inputs bigint[], outputs bigint[], picodollars numeric[], holds text[]
) returns bigint language plpgsql as $$
declare
  done bigint;
begin
  insert into gateway.spend_runs (run, through) values (of_run, -1) on conflict do nothing;
  select r.through into done from gateway.spend_runs r where r.run = of_run for update;
  if done <> after then return done; end if;

  -- In the order of the key, so that replicas lock in one order.
  insert into gateway.spend_days as total (subject, day, provider, model, name, requests,
    cached_requests, input_tokens, cached_input_tokens, output_tokens, dollars)
  select e.subject, e.day, e.provider, e.model, e.name, e.requests, e.cached_requests, e.input,
    e.cached_input, e.output, e.picodollars * 0.000000000001
  from unnest(days, subjects, names, providers, models, requests, cached_requests, inputs,
    cached_inputs, outputs, picodollars)
    as e (day, subject, name, provider, model, requests, cached_requests, input, cached_input,
      output, picodollars)
  order by 1, 2, 3, 4
  on conflict (subject, day, provider, model) do update set
    name = coalesce(excluded.name, total.name),
    requests = total.requests + excluded.requests,
    cached_requests = total.cached_requests + excluded.cached_requests,
    input_tokens = total.input_tokens + excluded.input_tokens,
    cached_input_tokens = total.cached_input_tokens + excluded.cached_input_tokens,
    output_tokens = total.output_tokens + excluded.output_tokens,
    dollars = total.dollars + excluded.dollars;

  delete from gateway.reservations where id = any (holds);
  update gateway.spend_runs set through = new_through, moved_at = clock_timestamp()
  where run = of_run;
  return new_through;
end
$$;

-- How the limits of a subject's budget stand, in one snapshot: a spend is either held or used.
create function gateway.budget_state(of_subject text, at_moment timestamptz)
returns table (unit text, period text, amount numeric, used numeric, held numeric, ends_at timestamptz)
language sql stable as $$
  select l.unit, l.period, l.amount,
    (select coalesce(sum(case l.unit when 'requests' then d.requests
        when 'tokens' then d.input_tokens + d.output_tokens else d.dollars end), 0)
      from gateway.spend_days d
      where d.subject = b.subject and d.day >= p.begins::date and d.day < p.ends::date),
    (select coalesce(sum(case l.unit when 'requests' then 1
        when 'tokens' then r.tokens else r.dollars end), 0)
      from gateway.reservations r where r.subject = b.subject and r.expires_at > at_moment),
    p.ends at time zone 'utc'
  from gateway.budgets b,
    jsonb_to_recordset(b.limits) as l (unit text, period text, amount numeric),
    lateral (select date_trunc(l.period, at_moment at time zone 'utc') as begins) as b2,
    lateral (select b2.begins,
      b2.begins + case l.period when 'day' then interval '1 day' else interval '1 month' end as ends
    ) as p
  where b.subject = of_subject
$$;

-- Holds what a request may take, or answers the limits that it does not fit into; `has_budget` is
-- false, and nothing is held, when the subject has no budget.
create function gateway.reserve(
  hold text, of_subject text, want_tokens numeric, want_dollars numeric, hold_seconds float8
) returns table (has_budget boolean, unit text, period text, amount numeric, used numeric,
  held numeric, wanted numeric, ends_in float8)
language plpgsql as $$
declare
  moment timestamptz;
begin
  perform 1 from gateway.budgets b where b.subject = of_subject for update;
  if not found then
    return query select false, null::text, null::text, null::numeric, null::numeric, null::numeric,
      null::numeric, null::float8;
    return;
  end if;
  -- After the lock: whoever held it may have taken the last of it.
  moment := clock_timestamp();
  return query
    select true, s.unit, s.period, s.amount, s.used, s.held, s.want,
      extract(epoch from s.ends_at - moment)::float8
    from (
      select state.*, case state.unit when 'requests' then 1 when 'tokens' then want_tokens
        else want_dollars end as want
      from gateway.budget_state(of_subject, moment) as state
    ) as s
    where s.used + s.held + s.want > s.amount;
  if found then return; end if;
  insert into gateway.reservations (id, subject, tokens, dollars, expires_at)
  values (hold, of_subject, want_tokens, want_dollars, moment + make_interval(secs => hold_seconds));
end
$$;

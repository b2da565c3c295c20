-- Holds what a request may take, or answers the limits that it does not fit into; `has_budget` is
-- false, and nothing is held, when the subject has no budget. What takes nothing of a unit fits,
-- also where an answer has overrun the limit.
create or replace function gateway.reserve(
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
    where s.want > 0 and s.used + s.held + s.want > s.amount;
  if found then return; end if;
  insert into gateway.reservations (id, subject, tokens, dollars, expires_at)
  values (hold, of_subject, want_tokens, want_dollars, moment + make_interval(secs => hold_seconds));
end
$$;

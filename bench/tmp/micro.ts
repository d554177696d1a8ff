import postgres from 'postgres'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { startPostgresPlace } from '../durable/place.ts'

const place = await startPostgresPlace()
const url = await place.fresh()
const store = await openPostgres(url)
const sql = postgres(url, {
  max: 1, fetch_types: false,
  types: { bigint: { to: 20, from: [20], serialize: String, parse: Number },
  bigints: { to: 1016, from: [1016], serialize: (v: any) => `{${v.map((x: any) => x ?? 'null').join(',')}}`, parse: String },
  texts: { to: 1009, from: [1009], serialize: (v: any) => `{${v.map((x: any) => x === null ? 'null' : `"${x}"`).join(',')}}`, parse: String } } as never,
  connection: { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off', plan_cache_mode: 'force_generic_plan' } as never,
})
const P = { prepare: true }
const moving = JSON.stringify({ status: 'running', journal: { last: 1, waits: [] }, revision: 5, startedAt: Date.now(), owner: {}, x: 'x'.repeat(150) })
await sql.unsafe(`create table narrow (flow int, n int, result text, primary key (flow, n))`)
for (const pid of ['a', 'b', 'c', 'd', 'e', 'f','g'])
  await sql.unsafe(`insert into reeve.process (pid, kind, root, created_at, version, revision, fence, holder, due, moving) values ('p_${pid}aaaaaaaaaaaaaaaaaaaaaaaa', 'engine', 'x', 1, 1, 1, 1, 'holder_aaaaaaaa', null, '${moving}')`)
await sql.unsafe(`insert into reeve.writer values ('store_x', 1, 0, null, clock_timestamp())`)
const payload = JSON.stringify({ place: 12, kind: 'step', name: 'step', began: Date.now(), tries: 1, how: 'done', value: 12 })
const pid = (c: string) => `p_${c}aaaaaaaaaaaaaaaaaaaaaaaa`
await sql.unsafe(`
create or replace function reeve.append_one(p_store text, p_wfence bigint, p_commit bigint, p_channel text, p_pid text, p_version bigint, p_revision bigint, p_fence bigint, p_holder text, p_carry text, p_due bigint, p_session text, p_wake text, p_ended bigint, p_moving text, p_type text, p_at bigint, p_actor text, p_key text, p_payload text) returns bigint language plpgsql as $b$
declare v_position bigint;
begin
 update reeve.process p set version = p.version + 1, revision = p_revision, fence = p_fence, holder = p_holder, carry = p_carry, due = p_due, session = p_session, wake_target = p_wake, ended_at = p_ended, moving = p_moving where p.pid = p_pid and p.version = p_version;
 if not found then return null; end if;
 update reeve.meta m set position = m.position + 1 returning m.position into v_position;
 insert into reeve.event (position, pid, seq, type, at, actor, replay_key, payload) values (v_position, p_pid, p_revision, p_type, p_at, p_actor, p_key, p_payload);
 update reeve.writer w set commit = p_commit, position = v_position, at = clock_timestamp() where w.store = p_store and w.fence = p_wfence;
 if not found then raise exception 'x'; end if;
 if p_channel is not null and exists (select from reeve.writer w where w.store <> p_store and w.at > clock_timestamp() - interval '3 minutes') then perform pg_notify(p_channel, p_store || ':' || v_position); end if;
 return v_position;
end $b$`)
await sql.unsafe(`
create or replace function reeve.append_arr(p_store text, p_wfence bigint, p_commit bigint, p_channel text, p_pid text, p_version bigint, p_revision bigint, p_fence bigint, p_holder text, p_carry text, p_due bigint, p_session text, p_wake text, p_ended bigint, p_moving text, p_seqs bigint[], p_types text[], p_ats bigint[], p_actors text[], p_keys text[], p_payloads text) returns bigint language plpgsql as $b$
declare v_position bigint; v_events bigint := cardinality(p_seqs);
begin
 update reeve.process p set version = p.version + 1, revision = p_revision, fence = p_fence, holder = p_holder, carry = p_carry, due = p_due, session = p_session, wake_target = p_wake, ended_at = p_ended, moving = p_moving where p.pid = p_pid and p.version = p_version;
 if not found then return null; end if;
 update reeve.meta m set position = m.position + v_events returning m.position into v_position;
    insert into reeve.event (position, pid, seq, type, at, actor, replay_key, payload)
      select v_position - v_events + ordinality, p_pid, seq, type, at, actor, replay_key, payload
      from unnest(p_seqs, p_types, p_ats, p_actors, p_keys,
        string_to_array(p_payloads, E'\\x1e'))
        with ordinality as n (seq, type, at, actor, replay_key, payload, ordinality);
 update reeve.writer w set commit = p_commit, position = v_position, at = clock_timestamp() where w.store = p_store and w.fence = p_wfence;
 if not found then raise exception 'x'; end if;
 if p_channel is not null and exists (select from reeve.writer w where w.store <> p_store and w.at > clock_timestamp() - interval '3 minutes') then perform pg_notify(p_channel, p_store || ':' || v_position); end if;
 return v_position;
end $b$`)
await sql.unsafe(`
create or replace function reeve.append_nonotify(p_store text, p_wfence bigint, p_commit bigint, p_channel text, p_pid text, p_version bigint, p_revision bigint, p_fence bigint, p_holder text, p_carry text, p_due bigint, p_session text, p_wake text, p_ended bigint, p_moving text, p_type text, p_at bigint, p_actor text, p_key text, p_payload text) returns bigint language plpgsql as $b$
declare v_position bigint;
begin
 update reeve.process p set version = p.version + 1, revision = p_revision, fence = p_fence, holder = p_holder, carry = p_carry, due = p_due, session = p_session, wake_target = p_wake, ended_at = p_ended, moving = p_moving where p.pid = p_pid and p.version = p_version;
 if not found then return null; end if;
 update reeve.meta m set position = m.position + 1 returning m.position into v_position;
 insert into reeve.event (position, pid, seq, type, at, actor, replay_key, payload) values (v_position, p_pid, p_revision, p_type, p_at, p_actor, p_key, p_payload);
 return v_position;
end $b$`)
for (const pid of ['h', 'i', 'j'])
  await sql.unsafe(`insert into reeve.process (pid, kind, root, created_at, version, revision, fence, holder, due, moving) values ('p_${pid}aaaaaaaaaaaaaaaaaaaaaaaa', 'engine', 'x', 1, 1, 1, 1, 'holder_aaaaaaaa', null, '${moving}')`)
const cte = (withWriter: boolean, process: 'update' | 'lock' | 'slim' | 'none') => `with p as (${
  process === 'update' ? `update reeve.process p set version = p.version + 1, revision = $2, fence = $3, holder = $4, carry = $5, due = $6, session = $7, wake_target = $8, ended_at = $9, moving = $10 where p.pid = $1 and p.version = $11 returning 1`
  : process === 'slim' ? `update reeve.process p set version = p.version + 1, revision = $2, moving = $10 where p.pid = $1 and p.version = $11 and p.fence = $3 and $4::text is not null and coalesce($5::text, $6::text, $7::text, $8::text, $9::text, '') is not null returning 1`
  : `select 1 from reeve.process p where p.pid = $1 and p.version >= 1 and p.fence = $3 and $4::text is not null and coalesce($5::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::text, '') is not null ${process === 'lock' ? 'for no key update' : ''}`
}), m as (update reeve.meta m set position = m.position + 1 where exists (select from p) returning m.position)
${withWriter ? `, w as (update reeve.writer w set commit = $17, position = m.position, at = clock_timestamp() from m where w.store = $18 and w.fence = $19 returning 1)` : `, w as (select $17::bigint, $18::text, $19::bigint)`}
insert into reeve.event (position, pid, seq, type, at, actor, replay_key, payload) select m.position, $1, $2, $12, $13, $14, $15, $16 from m returning position`
const args = (c: string, i: number) => [pid(c), i, 1, 'holder_aaaaaaaa', null, null, null, null, null, moving, i - 1, 'step_ended', Date.now(), `process:${pid(c)}`, `step:${i}`, payload]
const run = (text: string, values: unknown[]) => sql.unsafe(text, values as never[], P)
const T = (c: string, i: number) => run('', [])
const variants: Record<string, (i: number) => Promise<unknown>> = {
  'select 1': () => run('select 1', []),
  'narrow insert': (i) => run('insert into narrow values ($1,$2,$3)', [1, i, payload]),
  'event insert only': (i) => run('insert into reeve.event (position, pid, seq, type, at, actor, replay_key, payload) values ($1,$2,$3,$4,$5,$6,$7,$8)', [1e9 + i, pid('z'), i, 'step_ended', Date.now(), 'process:x', `step:${i}`, payload]),
  'cte no writer': (i) => run(cte(false, 'update'), [...args('a', i + 1), i, 'store_x', 1]),
  'cte writer': (i) => run(cte(true, 'update'), [...args('b', i + 1), i, 'store_x', 1]),
  'cte slim writer': (i) => run(cte(true, 'slim'), [...args('f', i + 1), i, 'store_x', 1]),
  'cte lock writer': (i) => run(cte(true, 'lock'), [...args('c', i + 1), i, 'store_x', 1]),
  'cte none, no writer': (i) => run(cte(false, 'none'), [...args('g', i + 1), i, 'store_x', 1]),
  'plpgsql lean': (i) => run('select reeve.append_one($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20) as position', ['store_x', 1, i, 'chan', pid('d'), i, i + 1, 1, 'holder_aaaaaaaa', null, null, null, null, null, moving, 'step_ended', Date.now(), 'process:d', `step:${i}`, payload]),
  'plpgsql lean arrays': (i) => run('select reeve.append_arr($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21) as position', ['store_x', 1, i, 'chan', pid('h'), i, i + 1, 1, 'holder_aaaaaaaa', null, null, null, null, null, moving, [i+1], ['step_ended'], [Date.now()], ['process:d'], [`step:${i}`], payload]),
  'plpgsql no writer': (i) => run('select reeve.append_nonotify($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20) as position', ['store_x', 1, i, 'chan', pid('i'), i, i + 1, 1, 'holder_aaaaaaaa', null, null, null, null, null, moving, 'step_ended', Date.now(), 'process:d', `step:${i}`, payload]),
  'commit_changes': (i) => run(`select stale, position from reeve.commit_changes(${Array.from({ length: 54 }, (_, k) => `$${k + 1}`).join(', ')})`, [
    'store_x', 1, i, 'chan', [pid('e')], [i], null,
    ...Array(16).fill(null),
    [pid('e')], [i + 1], [1], ['holder_aaaaaaaa'], [null], [null], [null], [null], [null], moving,
    ...Array(5).fill(null), null, 0,
    [pid('e')], [i + 1], ['step_ended'], [Date.now()], ['process:x'], [`step:${i}`], payload,
    ...Array(7).fill(null)]),
}
const count = { } as Record<string, number>
const times = { } as Record<string, number[]>
const cpu = { } as Record<string, number[]>
const N = 400
for (let round = 0; round < 9; round++) {
  for (const [name, act] of Object.entries(variants)) {
    count[name] ??= 1; times[name] ??= []; cpu[name] ??= []
    const c0 = process.cpuUsage(); const begun = performance.now()
    for (let k = 0; k < N; k++) {
      const found = (await act(count[name]!++)) as unknown[]
      if (round === 0 && k === 1 && name.startsWith('c') || name.startsWith('p')) if (found.length !== 1 || (found[0] as {stale?: string}).stale != null) throw new Error(`${name}: ${JSON.stringify(found)}`)
    }
    const used = process.cpuUsage(c0)
    times[name].push((performance.now() - begun) / N); cpu[name].push((used.user + used.system) / 1000 / N)
  }
}
const med = (v: number[]) => [...v].sort((a, b) => a - b)[Math.floor(v.length / 2)]!
for (const name of Object.keys(variants)) console.log(name.padEnd(22), med(times[name]!).toFixed(3), 'ms  client cpu', med(cpu[name]!).toFixed(3))
await sql.end(); await store.close(); await place.stop()

import { referenceChanges } from '../../../core/process/prune.ts'
import { targetOf } from '../../../core/process/record.ts'
import type { ProcessRow } from '../../../core/process/row.ts'
import { dueOf } from '../../due.ts'
import { movingText } from '../../record-text.ts'
import { definitionSignature, labelSignature } from '../../signature.ts'
import type { Link, Value } from '../link.ts'
import type { Staged, StagedRow } from '../staged.ts'

/** A store as the server knows it: its own id, and the number that every commit of it carries. */
export interface Writer {
  readonly store: string
  readonly fence: number
}

export type CommitAnswer =
  | { readonly type: 'stale'; readonly keys: readonly string[] }
  | { readonly type: 'committed'; readonly position: number | null }

type StagedProcess = StagedRow<ProcessRow>

/** No JSON text contains it: control characters are always escaped. */
const RECORD_SEPARATOR = '\x1e'
const PARAMETERS = 59
const PARAMETERS_OF_ONE = 32

export function commitStatements(link: Link, at: string) {
  const commit = `select stale, "position" from ${at}commit_changes(${marks(PARAMETERS)})`
  const commitOne = `select ${at}commit_one(${marks(PARAMETERS_OF_ONE)}) as "position"`
  const check = `select to_json(${at}stale_keys($1, $2, $3))::text as stale`
  const settle = `select fence, commit, "position" from ${at}settle($1)`

  return {
    /** Writes all that is staged, unless a row is not as it was seen. */
    async commit(staged: Staged, writer: Writer, number: number, channel: string): Promise<CommitAnswer> {
      const one = onlyProcess(staged)
      if (one !== undefined) {
        const values = [
          writer.store,
          writer.fence,
          number,
          channel,
          ...processCells(one.process),
          staged.live,
        ]
        const [found] = await link.query<{ position: number | null }>(commitOne, [
          ...values,
          ...ownEvents(staged),
          one.announced,
        ])
        if (found === undefined) throw new Error('commit_one() answered nothing')
        if (found.position === null) return { type: 'stale', keys: [...staged.guards.keys()] }
        return { type: 'committed', position: found.position }
      }
      const values = [
        ...[writer.store, writer.fence, number, isNews(staged) ? channel : null],
        ...guards(staged),
        ...newProcesses(staged),
        ...processes(staged),
        ...leases(staged),
        ...[rest(staged), staged.live],
        ...events(staged),
        ...notices(staged),
      ]
      const [found] = await link.query<{ stale: string | null; position: number | null }>(commit, values)
      if (found === undefined) throw new Error('commit_changes() answered nothing')
      if (found.stale !== null) return { type: 'stale', keys: JSON.parse(found.stale) as string[] }
      return { type: 'committed', position: found.position }
    },

    /** For a batch that writes nothing: which of the rows it was decided on have changed, at one moment. */
    async stale(staged: Staged): Promise<readonly string[]> {
      const [found] = await link.query<{ stale: string | null }>(check, guards(staged))
      if (found === undefined) throw new Error('stale_keys() answered nothing')
      return found.stale === null ? [] : (JSON.parse(found.stale) as string[])
    },

    /** The last commit of this store that happened; of those before this call none will happen any more. */
    async settle(store: string): Promise<{ fence: number; commit: number; position: number | null }> {
      const [found] = await link.query<{ fence: number; commit: number; position: number | null }>(settle, [
        store,
      ])
      if (found === undefined) throw new Error('settle() answered nothing')
      return found
    },

    /** Which of these another transaction has locked at this moment. */
    async locked(pids: readonly string[]): Promise<readonly string[]> {
      const free = await link.query<{ pid: string }>(
        `select pid from ${at}process where pid = any ($1) for no key update skip locked`,
        [pids],
      )
      const there = await link.query<{ pid: string }>(`select pid from ${at}process where pid = any ($1)`, [
        pids,
      ])
      const known = new Set(free.map(({ pid }) => pid))
      return there.map(({ pid }) => pid).filter((pid) => !known.has(pid))
    },

    /** A store that is closed needs no row; one that died leaves it to the next that opens. */
    async leave(store: string): Promise<void> {
      await link.query(`delete from ${at}writer where store = $1 or at < now() - interval '7 days'`, [store])
    },
  }
}

function marks(count: number): string {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
}

interface OnlyProcess {
  readonly process: StagedProcess
  /** The holder whose row must be there. */
  readonly announced: string | null
}

/** The process that was seen and is written with its events, if that is all; a new one also with its holder. */
function onlyProcess(staged: Staged): OnlyProcess | undefined {
  const { guards, processes, events, notices } = staged
  if (guards.size > 2 || processes.size !== 1 || events.length === 0 || notices.length > 0) return undefined
  if (rest(staged) !== null) return undefined
  const [process] = processes.values()
  if (process === undefined) return undefined
  if (guards.size === 1) return { process, announced: null }
  const announced = announcedIn(staged)
  return process.version > 0 || announced === undefined ? undefined : { process, announced }
}

function announcedIn({ guards }: Staged): string | undefined {
  for (const { question, version } of guards.values())
    if (question.ask === 'announced' && version > 0) return question.id
  return undefined
}

function processCells({ version, value }: StagedProcess): Value[] {
  const { record, fence, holder, carry } = value
  const changing = [
    ...[record.pid, version, record.revision, fence, holder, carry, dueOf(value)],
    ...[record.owner.session ?? null, record.wakeTarget],
    ...[record.outcome?.endedAt ?? null, record.outcome?.status ?? null, movingText(record)],
  ]
  if (version > 0) return [...changing, null, null, null, null, null, null, null, null, null]
  const { kind, spec, name, parent, root, createdAt, identity, placement } = record
  return [
    ...[...changing, kind, targetOf(kind, spec), name, parent, root, createdAt],
    ...[labelSignature(identity.label), definitionSignature(identity.definition), placement],
  ]
}

/** All of one process, the last with its revision. */
function ownEvents({ events }: Staged): Value[] {
  return [
    events.map(({ type }) => type),
    events.map(({ at }) => at),
    events.map(({ actor }) => actor),
    events.map(({ replayKey }) => replayKey),
    packed(events.map(({ payload }) => JSON.stringify(payload))),
  ]
}

/** Whether others have reason to look. Renewals and claims come often, and nobody waits for them. */
function isNews(staged: Staged): boolean {
  const { events, tombstones, sessions, goneSessions, turns, grants, revoked, notices, dropped } = staged
  return (
    events.length > 0 ||
    notices.length > 0 ||
    [tombstones, sessions, goneSessions, turns, grants, revoked, dropped].some(({ size }) => size > 0)
  )
}

/** Sorted, because everybody locks in this order. */
function guards(staged: Staged): Value[] {
  const pids: { key: string; version: number }[] = []
  const scopes: { kind: string; key: string; id: string; session: string | null; version: number }[] = []
  for (const [key, { question, version }] of staged.guards) {
    if (question.ask === 'process') pids.push({ key: question.pid, version })
    else {
      const session = question.ask === 'turn' ? question.session : null
      const id =
        question.ask === 'inbox'
          ? question.scope
          : question.ask === 'environment'
            ? question.ref
            : question.id
      scopes.push({ kind: question.ask, key, id, session, version })
    }
  }
  pids.sort(byKey)
  scopes.sort(byKey)
  return [
    pids.map(({ key }) => key),
    pids.map(({ version }) => version),
    scopes.length === 0 ? null : JSON.stringify(scopes),
  ]
}

function newProcesses({ processes }: Staged): Value[] {
  const rows = [...processes.values()].flatMap(({ version, value }) => (version === 0 ? [value] : []))
  return columns(rows, [
    ...LEASE_BEFORE_DUE,
    dueOf,
    ({ record }) => record.kind,
    ({ record }) => targetOf(record.kind, record.spec),
    ({ record }) => record.name,
    ({ record }) => record.parent,
    ({ record }) => record.root,
    ({ record }) => record.owner.session ?? null,
    ({ record }) => record.wakeTarget,
    ({ record }) => record.createdAt,
    ({ record }) => record.outcome?.endedAt ?? null,
    ({ record }) => record.outcome?.status ?? null,
    ({ record }) => labelSignature(record.identity.label),
    ({ record }) => definitionSignature(record.identity.definition),
    ({ record }) => record.placement,
  ]).concat(packed(rows.map(({ record }) => movingText(record))))
}

function processes({ processes }: Staged): Value[] {
  const rows = [...processes.values()].flatMap(({ version, base, value }) =>
    version > 0 && base?.record !== value.record ? [value] : [],
  )
  return columns(rows, [
    ...LEASE_BEFORE_DUE,
    dueOf,
    ({ record }) => record.owner.session ?? null,
    ({ record }) => record.wakeTarget,
    ({ record }) => record.outcome?.endedAt ?? null,
    ({ record }) => record.outcome?.status ?? null,
  ]).concat(packed(rows.map(({ record }) => movingText(record))))
}

/** Claims and the like: the record stays, and need not be written again. */
function leases({ processes }: Staged): Value[] {
  const rows = [...processes.values()].flatMap(({ version, base, value }) =>
    version > 0 && base?.record === value.record ? [value] : [],
  )
  return columns(rows, [
    ({ record }) => record.pid,
    ({ fence }) => fence,
    ({ holder }) => holder,
    ({ carry }) => carry,
    dueOf,
  ])
}

const LEASE_BEFORE_DUE: readonly ((row: ProcessRow) => string | number | null)[] = [
  ({ record }) => record.pid,
  ({ record }) => record.revision,
  ({ fence }) => fence,
  ({ holder }) => holder,
  ({ carry }) => carry,
]

function events({ events }: Staged): Value[] {
  return columns(events, [
    ({ pid }) => pid,
    ({ seq }) => seq,
    ({ type }) => type,
    ({ at }) => at,
    ({ actor }) => actor,
    ({ replayKey }) => replayKey,
  ]).concat(packed(events.map(({ payload }) => JSON.stringify(payload))))
}

function notices({ notices }: Staged): Value[] {
  return columns(notices, [
    ({ scope }) => scope,
    ({ pid }) => pid,
    ({ seq }) => seq,
    ({ kind }) => kind,
    ({ at }) => at,
  ]).concat(
    packed(notices.map(({ payload }) => JSON.stringify(payload))),
    packed(notices.map(({ replyTo }) => JSON.stringify(replyTo))),
  )
}

/** What is written more rarely, or is small: parts that are empty are left out. */
function rest(staged: Staged): string | null {
  const { tombstones } = staged
  const held = [...staged.holders]
  const groups = [...staged.groups]
  const inboxes = [...staged.inboxes]
  const accounts = [...staged.accounts]
  const parts = {
    sessions: [...staged.sessions.values()].map(({ value, ...row }) => scope(row, value, value.carry)),
    turns: [...staged.turns.values()].map(({ value, ...row }) => ({
      ...scope(row, value, value.carry),
      session: value.session,
    })),
    groups: groups.flatMap(([, { value, ...row }]) => (value === null ? [] : [scope(row, value, null)])),
    groups_gone: groups.flatMap(([, { base, value }]) => (value === null && base !== null ? [base.id] : [])),
    inboxes: inboxes.flatMap(([, { value, version, next }]) =>
      value === null
        ? []
        : [
            {
              scope: value.scope,
              version,
              next,
              tripped: value.overflow.tripped !== null,
              body: JSON.stringify(value),
            },
          ],
    ),
    inboxes_gone: inboxes.flatMap(([, { base, value }]) =>
      value === null && base !== null ? [base.scope] : [],
    ),
    accounts: accounts.flatMap(([, { value, version, next }]) => {
      if (value === null) return []
      const { id, root, session, settled } = value
      return [{ id, version, next, root, session, open: !settled, body: JSON.stringify(value) }]
    }),
    accounts_gone: accounts.flatMap(([, { base, value }]) =>
      value === null && base !== null ? [base.id] : [],
    ),
    notices_done: staged.noticesDone,
    observed: staged.observed.map(({ turns, ...told }) => ({ ...told, turns: JSON.stringify(turns) })),
    sessions_gone: [...staged.goneSessions],
    grants: [...staged.grants.values()].map((grant) => ({
      ...grant,
      descriptor: JSON.stringify(grant.descriptor),
    })),
    revokes: [...staged.revoked.values()],
    environments: [...staged.environments].map(([ref, value]) => ({ ref, body: JSON.stringify(value) })),
    environment_uses: staged.environmentUses,
    ended_uses: staged.endedUses,
    holders: held.flatMap(([id, put]) =>
      put === null ? [] : [{ id, body: JSON.stringify(put.holder), ttl: put.ttlMs }],
    ),
    holders_gone: held.flatMap(([id, put]) => (put === null ? [id] : [])),
    notices_dropped: [...staged.dropped],
    tombstones: [...tombstones.values()].map(({ pid, fence, endedAt, prunedAt }) => ({
      ...{ pid, fence },
      ...{ ended_at: endedAt, pruned_at: prunedAt },
    })),
    tombstones_gone: staged.goneTombstones,
    ...references(staged),
  }
  const filled = Object.entries(parts).filter(([, rows]) => rows.length > 0)
  return filled.length === 0 ? null : JSON.stringify(Object.fromEntries(filled))
}

/** Which processes live ones begin to refer to, and cease to. */
function references({ processes }: Staged) {
  const changed = [...processes.values()].flatMap(({ base, value }) => {
    const { pid: referrer } = value.record
    const changes = referenceChanges(base?.record ?? null, value.record)
    return changes === null ? [] : [{ referrer, ...changes }]
  })
  return {
    references: changed.flatMap(({ referrer, added }) => added.map((pid) => ({ pid, referrer }))),
    references_gone: changed.flatMap(({ referrer, removed }) => removed.map((pid) => ({ pid, referrer }))),
  }
}

function scope(
  { version, next }: { readonly version: number; readonly next: number },
  value: { readonly id: string },
  carry: boolean | null,
) {
  return { version, next, id: value.id, carry, body: JSON.stringify(value) }
}

/** One array per column; null for each when there are no rows. */
function columns<Row>(
  rows: readonly Row[],
  cells: readonly ((row: Row) => string | number | null)[],
): Value[] {
  return cells.map((cell) => (rows.length === 0 ? null : rows.map(cell)))
}

function packed(texts: readonly string[]): Value {
  return texts.length === 0 ? null : texts.join(RECORD_SEPARATOR)
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : Number(a.key > b.key)
}

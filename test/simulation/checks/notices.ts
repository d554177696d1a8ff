import type { Json } from '../../../src/core/json/json.ts'
import { isMemoryJob } from '../../../src/core/memory/memory-spec.ts'
import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { EventType, Outcome, Registration } from '../../../src/core/process/record.ts'
import { type Check, type Ledger, same } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'

interface Told {
  readonly scope: string
  readonly pid: string
  readonly seq: number
  readonly kind: string
  readonly at: number
  readonly payload: Json
  readonly replyTo: Json
}

interface Known {
  readonly registration: Registration
  session: string | undefined
  toolCall: string | undefined
  /** The processes whose ends it waits for. */
  readonly awaits: Set<string>
  wakeTarget: string | null
  /** The key of a group: its name and the scope that it notifies, as of the registration. */
  group: string | null
  startedAt: number | null
  /** Whether a person has replied to it, or denied it. */
  hasAnswer: boolean
}

interface Group {
  readonly scope: string | null
  readonly seats: ({ pid: string; outcome: Json } | null)[]
}

const ANY_TIME = -1

/**
 * No notice is lost or doubled: the expected notices are derived here from the event log alone, independently of the kernel's
 * code, and compared with the inbox.
 */
export function checkNotices(stage: Stage, ledger: Ledger): Check {
  const processes = new Map<string, Known>()
  const groups = new Map<string, Group>()
  let expected = new Map<string, Told>()
  const approvals = new Set<string>()

  /** The count of held-back matches by scope, and the match that tripped it. */
  const tripped = new Map<string, { pid: string; seq: number; at: number; held: number }>()

  const expect = (told: Told) => expected.set(`${told.scope} ${told.pid} ${told.seq} ${told.kind}`, told)

  const heard = (event: StoredEvent) => {
    const registration = payloadOf(event, 'registered')
    if (registration !== undefined) return registered(event, registration)
    const known = processes.get(event.pid)
    if (known === undefined) return
    const payload = event.payload as Readonly<Record<string, Json>>
    const owner = payloadOf(event, 'reowned')?.owner
    if (owner !== undefined) Object.assign(known, { session: owner.session, toolCall: owner.toolCall })
    else if (event.type === 'wake_target_cleared') known.wakeTarget = null
    else if (event.type === 'started') known.startedAt ??= event.at
    const outcome = outcomeOf(known, event)
    const name = String(payload['name'])
    if (event.type === 'wait_entered' && payload['on'] === 'child') known.awaits.add(name)
    else if (event.type === 'wait_left') known.awaits.delete(name)
    else if (['holder_lost', 'released'].includes(event.type) || outcome !== undefined) known.awaits.clear()
    if (event.type === 'watch_matched') matched(known, event)
    else if (event.type === 'limit_near') tell(known, event, 'limit_warning', payload)
    else if (event.type === 'message_received' || event.type === 'message_sent') message(known, event)
    else if (event.type === 'wait_entered' && payload['on'] === 'approval') approval(known, event)
    else if (event.type === 'approval_requested') asked(known, event)
    else if (event.type === 'approval_settled') settled(known, event)
    else if (outcome !== undefined) ended(known, event, outcome)
    else if (known.registration.eventTypes[event.type]?.wake === true && known.wakeTarget !== null)
      expect({
        ...about(known, event),
        scope: `session:${known.wakeTarget}`,
        kind: 'wake',
        payload: { ...namesOf(known), type: event.type, value: event.payload },
      })
  }

  const tell = (known: Known, event: StoredEvent, kind: string, payload: object) => {
    const scope = listenerOf(known)
    if (scope !== null)
      expect({ ...about(known, event), scope, kind, payload: { ...namesOf(known), ...payload } })
  }

  /** A message that a wait took at once makes no notice. */
  const message = (known: Known, event: StoredEvent) => {
    const { taken, to, ...said } = event.payload as { taken?: boolean; to?: string; replyTo: Json }
    const { replyTo } = said
    if (taken === true) return
    const names = to === undefined ? {} : namesOf(known)
    const scope = to ?? `process:${event.pid}`
    expect({ ...about(known, event), scope, kind: 'message', payload: { ...names, ...said }, replyTo })
  }

  /** An approval makes one notice, however many holders reach it. */
  const approval = (known: Known, event: StoredEvent) => {
    const { name: wait, ordinal, until } = event.payload as { name: string; ordinal: number; until: Json }
    const asked = `${listenerOf(known)} ${event.pid} ${wait} ${ordinal}`
    if (approvals.has(asked)) return
    approvals.add(asked)
    tell(known, event, 'approval', { wait, ordinal, until })
  }

  const asked = (known: Known, event: StoredEvent) => {
    const { approval: id, expiresAt } = event.payload as { approval: string; expiresAt: Json }
    const isQuestion = known.registration.spec['tool'] === 'human.ask' ? { question: true } : {}
    tell(known, event, 'approval', { approval: id, until: expiresAt, ...isQuestion })
  }

  /** Every answer but a yes is followed by the end, which is told. */
  const settled = (known: Known, event: StoredEvent) => {
    const {
      approval: id,
      how,
      spec: edited,
    } = event.payload as {
      approval: string
      how: string
      spec?: Registration['spec']
    }
    known.hasAnswer = how === 'answered' || how === 'denied'
    if (how !== 'approved') return
    tell(known, event, 'approval', { approval: id, how, ...editedBy(known.registration, edited) })
  }

  const matched = (known: Known, event: StoredEvent) => {
    const scope = listenerOf(known)
    const { told, ...match } = event.payload as { told: string }
    if (scope === null) return
    const held = tripped.get(scope)
    if (told === 'held') {
      if (held === undefined)
        stage.violated('no lost notice', `${event.pid} ${event.seq} is held back for nothing`)
      else held.held += 1
      return
    }
    if (held !== undefined)
      stage.violated('no lost notice', `${event.pid} ${event.seq} is told while matches are held back`)
    if (told === 'tripped') tripped.set(scope, { pid: event.pid, seq: event.seq, at: event.at, held: 1 })
    const kind = told === 'tripped' ? 'overflow_tripped' : 'watch_match'
    expect({ ...about(known, event), scope, kind, payload: { ...namesOf(known), ...match } })
  }

  /** One notice with the count, when the inbox is not tripped any more. */
  const released = (scope: string) => {
    const held = tripped.get(scope)
    tripped.delete(scope)
    const known = held === undefined ? undefined : processes.get(held.pid)
    if (held === undefined || known === undefined || !ledger.processes.has(held.pid)) return
    const payload = { ...namesOf(known), held: held.held, trippedAt: held.at }
    const { pid, seq } = held
    const { replyTo } = known.registration
    // The time depends on the kernel that releases it.
    expect({ pid, seq, at: ANY_TIME, replyTo, scope, kind: 'overflow_released', payload })
  }

  const registered = (event: StoredEvent, registration: Registration) => {
    const known: Known = {
      registration,
      session: registration.owner.session,
      toolCall: registration.owner.toolCall,
      awaits: new Set(),
      wakeTarget: registration.wakeTarget,
      group: null,
      startedAt: null,
      hasAnswer: false,
    }
    processes.set(event.pid, known)
    const { group } = registration
    if (group === null) return
    known.group = `${listenerOf(known)} ${group.id}`
    const taken = groups.get(known.group) ?? {
      scope: listenerOf(known),
      seats: Array.from({ length: group.size }, () => null),
    }
    taken.seats[group.index] = { pid: event.pid, outcome: null }
    groups.set(known.group, taken)
  }

  const ended = (known: Known, event: StoredEvent, outcome: Outcome) => {
    const { status, exitCode, signal, reason, result, source, evidence, startedAt, endedAt } = outcome
    const group = known.group === null ? undefined : groups.get(known.group)
    if (group === undefined) {
      const scope = listenerOf(known)
      const how = { status, exitCode, signal, reason, source, evidence, startedAt, endedAt }
      const payload = { ...namesOf(known), ...how, ...saidOf(known, outcome) }
      if (scope !== null && !hasReader(known, event.pid) && !isMemoryJob(known.registration))
        expect({ ...about(known, event), scope, kind: 'completion', payload })
      return
    }
    const seat = group.seats[known.registration.group?.index ?? 0]
    if (seat) seat.outcome = { status, exitCode, reason, result }
    if (group.seats.some((taken) => taken === null || taken.outcome === null)) return
    groups.delete(known.group ?? '')
    if (group.scope === null) return
    const payload = { group: known.registration.group?.id ?? '', seats: structuredClone(group.seats) }
    expect({ ...about(known, event), scope: group.scope, kind: 'group_completion', payload })
  }

  /** Its parent waits for it, or it is a tool call that it did not inherit. */
  const hasReader = ({ registration, toolCall }: Known, pid: string) => {
    const { parent: above } = registration
    if (above === null) return toolCall !== undefined
    const parent = ledger.processes.has(above) ? processes.get(above) : undefined
    if (parent === undefined) return false
    return parent.awaits.has(pid) || (toolCall !== undefined && toolCall !== parent.toolCall)
  }

  const compare = () => {
    const missing = new Map(expected)
    const scopes = new Set([...expected.values()].map(({ scope }) => scope))
    const found = [...scopes].flatMap((scope) =>
      ledger.observer.ask({ ask: 'notices', scope, after: 0, limit: 10_000 }),
    )
    for (const { position: _position, done: _done, observed: _observed, ...told } of found) {
      const key = `${told.scope} ${told.pid} ${told.seq} ${told.kind}`
      const wanted = missing.get(key)
      missing.delete(key)
      if (wanted === undefined)
        stage.violated('no doubled notice', `${key} (${told.kind}) was not to be told`)
      else if (!same({ ...told, at: wanted.at === ANY_TIME ? ANY_TIME : told.at }, wanted))
        stage.violated('no lost notice', `${key} says ${JSON.stringify(told)}, not ${JSON.stringify(wanted)}`)
    }
    const count = ledger.observer.count('notice')
    if (count !== found.length)
      stage.violated(
        'no doubled notice',
        `${count - found.length} notices are to scopes that were not to be told`,
      )
    for (const [key, told] of missing) stage.violated('no lost notice', `${key} (${told.kind}) is missing`)
  }

  return {
    process(_change, _before, stored) {
      for (const event of stored) heard(event)
    },
    other(change) {
      if (change.type === 'inbox' && change.inbox.overflow.tripped === null) released(change.inbox.scope)
      if (change.type === 'drop_notices') {
        tripped.delete(change.scope)
        for (const asked of approvals) if (asked.startsWith(`${change.scope} `)) approvals.delete(asked)
      }
      const gone =
        change.type === 'drop_notices'
          ? (told: Told) => told.scope === change.scope
          : change.type === 'prune'
            ? (told: Told) => change.tombstones.some(({ pid }) => pid === told.pid)
            : undefined
      if (gone !== undefined) expected = new Map([...expected].filter(([, told]) => !gone(told)))
    },
    committed() {
      if (ledger.observer.count('notice') !== expected.size) compare()
    },
    full: compare,
  }
}

function namesOf({ registration }: Known) {
  return { label: registration.label, name: registration.name }
}

function about({ registration }: Known, { pid, seq, at }: StoredEvent) {
  return { pid, seq, at, replyTo: registration.replyTo }
}

/** What the person said whom it waited for. The result of a process that a program ends meanwhile is no reply. */
function saidOf({ hasAnswer }: Known, { status, result }: Outcome): { readonly [name: string]: Json } {
  if (!hasAnswer) return {}
  if (status === 'completed') return { reply: String(result) }
  const advice = (result as { readonly advice?: Json } | null)?.advice
  return advice === undefined ? {} : { advice }
}

function listenerOf({ registration, session, wakeTarget }: Known): string | null {
  if (wakeTarget !== null) return `session:${wakeTarget}`
  if (session !== undefined) return `session:${session}`
  return registration.parent === null ? null : `process:${registration.parent}`
}

function outcomeOf({ registration, startedAt }: Known, event: StoredEvent): Outcome | undefined {
  const types: Readonly<Record<string, EventType>> = registration.eventTypes
  const outcome = payloadOf(event, 'ended')
  if (outcome !== undefined) return outcome
  const status = types[event.type]?.end
  if (status === undefined) return undefined
  const nothing = { exitCode: null, signal: null, source: null, evidence: null }
  return { ...nothing, startedAt, status, reason: event.type, result: event.payload, endedAt: event.at }
}

/** The program that runs instead of the one asked about, and the members of its spec that the answer changed. */
function editedBy({ kind, spec }: Registration, edited: Registration['spec'] | undefined) {
  if (edited === undefined) return {}
  const changed = Object.keys({ ...spec, ...edited })
    .filter((name) => !same(spec[name] ?? null, edited[name] ?? null))
    .sort()
  const runs = kind === 'command' ? (edited['run'] ?? edited['argv']) : edited[kind]
  return { runs: Array.isArray(runs) ? runs.join(' ') : (runs ?? null), changed }
}

import * as fc from 'fast-check'
import { FLOOD_LIMITS } from '../../src/core/inbox/flood.ts'
import type { Json } from '../../src/core/json/json.ts'
import type { Fence, Lease } from '../../src/core/lease/lease.ts'
import { decide } from '../../src/core/process/decide.ts'
import type { Decision, Rules } from '../../src/core/process/decision.ts'
import type { ProcessEvent, StoredEvent } from '../../src/core/process/event.ts'
import { fold } from '../../src/core/process/fold.ts'
import { type Intent, replayKeyOf } from '../../src/core/process/intent.ts'
import { type Actor, EVIDENCES, STOPS } from '../../src/core/process/record.ts'
import { decideRegister, type RegistrationRequest } from '../../src/core/process/register.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'
import { WAITS } from '../../src/core/process/wait.ts'
import { FACTS, INTENT } from '../core/registered.ts'

export const PID = 'p_azzzzzzzzzzz'

const rules: Rules = {
  validate: (schema, payload) =>
    schema['type'] === 'number' && typeof payload !== 'number' ? 'no number' : undefined,
  maxPayloadBytes: 200,
  mask: (text) => text,
  maxPendingSignals: 1,
  flood: FLOOD_LIMITS,
}

/** One process without a store: applies a list of intents with decide and evolve. */
interface History {
  readonly row: ProcessRow
  readonly events: readonly ProcessEvent[]
}

function begin(request: RegistrationRequest): History {
  const decision = decideRegister(FACTS, { ...INTENT, pid: PID, bytes: 0, request }, rules)
  if (decision.type !== 'register') throw new Error(`Not registered: ${JSON.stringify(decision)}`)
  return apply({ row: undefined, events: [] }, decision.events, { holder: null, fence: 0 }, 'host', 1_000)
}

/** Loads the facts, decides and folds, as the one write path does. */
function step(history: History, intent: Intent): { readonly decision: Decision; readonly next: History } {
  const key = replayKeyOf(intent)
  const found = key === null ? undefined : history.events.find(({ replayKey }) => replayKey === key)
  const replayed: StoredEvent | null = found === undefined ? null : { ...found, position: found.seq }
  const decision = decide({ row: history.row, replayed }, intent, rules)
  if (decision.type !== 'append') return { decision, next: history }
  return { decision, next: apply(history, decision.events, decision.lease, intent.actor, intent.at) }
}

/** A claim is no event: the lease lies beside the record. */
function claimed(history: History, holder: string): History {
  const { row } = history
  if (row.holder !== null || row.record.status !== 'queued' || row.record.recovery === 'external')
    return history
  return { ...history, row: { ...row, holder, fence: row.fence + 1 } }
}

function apply(
  history: { readonly row: ProcessRow | undefined; readonly events: readonly ProcessEvent[] },
  events: Parameters<typeof fold>[0]['events'],
  lease: Lease | undefined,
  actor: Actor,
  at: number,
): History {
  const { row, changes } = fold({ pid: PID, was: history.row ?? null, group: null, events, lease, actor, at })
  const appended = changes.flatMap((change) => (change.type === 'process' ? change.events : []))
  return { row: frozen(row), events: [...history.events, ...frozen(appended)] }
}

/** Frozen to the last member: a `decide` or `evolve` that changes its arguments throws. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of Object.values(value)) frozen(member)
  return value
}

const EVENT_TYPES = {
  note: { schema: {}, facet: 'note' },
  count: { schema: { type: 'number' }, wake: true },
  shipped: { schema: {}, end: 'completed' },
} as const

const request: fc.Arbitrary<RegistrationRequest> = fc.constantFrom<RegistrationRequest>(
  { kind: 'external', spec: { description: 'x' }, eventTypes: EVENT_TYPES },
  { kind: 'tool', spec: { tool: 'x' }, eventTypes: EVENT_TYPES, limits: { attempts: 2 } },
  { kind: 'tool', spec: { tool: 'x' }, recovery: 'rerunnable', eventTypes: EVENT_TYPES },
  { kind: 'command', spec: { run: 'x' } },
)

const name = fc.constantFrom('go', 'stay', 'constructor', '__proto__')
const json: fc.Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
  fc.constantFrom<Json>(null, 1, 'x'.repeat(300)),
)
const fence: fc.Arbitrary<Fence> = fc.record({ holder: fc.constantFrom('k1', 'k2'), fence: fc.nat(3) })
const observed: fc.Arbitrary<Lease> = fc.record({
  holder: fc.constantFrom('k1', 'k2', null),
  fence: fc.nat(3),
})
const wait = fc.record({
  on: fc.constantFrom(...WAITS),
  name,
  ordinal: fc.integer({ min: 1, max: 3 }),
})
const replayKey = fc.constantFrom('r1', 'r2', 'r3')

const said = fc.record({
  pid: fc.constant(PID),
  actor: fc.constantFrom<Actor>('host', 'kernel:k1', `process:${PID}`),
  at: fc.integer({ min: 0, max: 5_000 }),
})

const asks = [
  fc.record({ type: fc.constant('start'), fence }),
  fc.record({
    type: fc.constant('end'),
    ending: fc.record(
      { status: fc.constantFrom('completed', 'failed', 'cancelled'), exitCode: fc.nat(3), result: json },
      { requiredKeys: ['status'] },
    ),
    replayKey,
    fence: fc.option(fence),
  }),
  fc.record({
    type: fc.constant('append'),
    event: fc.constantFrom(
      'note',
      'count',
      'shipped',
      'unheard',
      'ended',
      'signal.go',
      'constructor',
      '__proto__',
    ),
    payload: json,
    replayKey: fc.option(replayKey),
    fence: fc.option(fence),
  }),
  fc.record({
    type: fc.constant('stop'),
    how: fc.constantFrom(...STOPS),
    reason: fc.constantFrom('a', 'b'),
    cause: fc.constant(null),
    replayKey,
  }),
  fc.record({
    type: fc.constant('confirm_stop'),
    delivered: fc.record({ how: fc.constantFrom(...STOPS), by: fc.constantFrom('signal', 'callback') }),
  }),
  fc.record({ type: fc.constant('pause') }),
  fc.record({ type: fc.constant('resume') }),
  fc.record({ type: fc.constant('signal'), name, id: fc.constantFrom('1', '2', '3', '4'), value: json }),
  fc.record({
    type: fc.constant('message'),
    to: fc.constantFrom('human:host', `process:${PID}`),
    message: fc.record({
      from: fc.constant('host'),
      channel: fc.constantFrom(null, 'a', 'b'),
      correlationId: fc.constant(null),
      replyTo: fc.constant(null),
      priority: fc.constantFrom('normal', 'interrupt'),
      value: json,
    }),
    key: fc.constantFrom('1', '2', '3'),
  }),
  fc.record({ type: fc.constant('enter_wait'), wait, until: fc.option(fc.nat(9_000)), fence }),
  fc.record({
    type: fc.constant('leave_wait'),
    wait,
    how: fc.constantFrom('due', 'ended', 'timed_out'),
    value: json,
    fence,
  }),
  fc.record({ type: fc.constant('answer'), wait, value: json }),
  fc.record({ type: fc.constant('request_abandon'), reason: fc.constantFrom('a', 'b') }),
  fc.record({ type: fc.constant('change_owner'), owner: fc.constantFrom({}, { source: 'x' }) }),
  fc.record({ type: fc.constant('change_cwd'), cwd: fc.constantFrom('/', '/tmp') }),
  fc.record({ type: fc.constant('set_external_ref'), ref: json }),
  fc.record({ type: fc.constant('reveal'), verb: fc.constantFrom('poll', 'log') }),
  fc.record({ type: fc.constant('clear_wake_target'), session: fc.constant('s1') }),
  fc.record({
    type: fc.constant('put_back'),
    observed,
    evidence: fc.constantFrom(...EVIDENCES),
    retryAt: fc.nat(9_000),
  }),
  fc.record({ type: fc.constant('abandon'), observed, evidence: fc.constantFrom(...EVIDENCES) }),
  fc.record({ type: fc.constant('give_up'), observed, reason: fc.constant('attempts_exhausted') }),
  fc.record({ type: fc.constant('settle_stop'), observed }),
  fc.record({ type: fc.constant('give_up_stop'), fence }),
  fc.record({ type: fc.constant('take_over'), observed, holder: fc.constantFrom('k1', 'k2') }),
  fc.record({
    type: fc.constant('program_started'),
    program: fc.constant({
      osPid: 4,
      startTime: '9',
      boot: 'b',
      group: 4,
      tree: 'marker',
      memoryBy: null,
    }),
    fence,
  }),
  fc.record({ type: fc.constant('release'), fence }),
]

const intent: fc.Arbitrary<Intent> = fc
  .tuple(said, fc.oneof(...asks))
  .map(([asked, what]) => ({ ...asked, ...what }) as Intent)

/** Either a claim or an intent; fitting leases are likelier than by chance. */
const move = fc.oneof(
  { weight: 1, arbitrary: fc.record({ claim: fc.constantFrom('k1', 'k2') }) },
  { weight: 6, arbitrary: fc.record({ ask: intent, fits: fc.boolean() }) },
)
export type Move = { readonly claim: string } | { readonly ask: Intent; readonly fits: boolean }

export interface Step {
  readonly was: History
  readonly asked: Intent | null
  readonly decision: Decision | null
  readonly next: History
}

function play(was: History, one: Move): Step {
  if ('claim' in one) return { was, asked: null, decision: null, next: claimed(was, one.claim) }
  const asked = intentOf(one, was.row)
  return { was, asked, ...step(was, asked) }
}

/** The intent of a move for the current state of the process. */
export function intentOf({ ask, fits }: Extract<Move, { fits: boolean }>, row: ProcessRow): Intent {
  return fits ? fitted(ask, row) : ask
}

function fitted(asked: Intent, { holder, fence: number }: ProcessRow): Intent {
  const lease = { holder: holder ?? 'k1', fence: number }
  if ('observed' in asked) return { ...asked, observed: { holder, fence: number } }
  return 'fence' in asked && asked.fence !== null ? ({ ...asked, fence: lease } as Intent) : asked
}

/** The same histories in every run; another seed finds others. */
const SEED = 20_261_116

/** Checks every step of many random histories; a failure is shrunk to the shortest one. */
export function everyStep(check: (step: Step) => void, runs = 1_500): void {
  const property = fc.property(request, fc.array(move, { maxLength: 30 }), (asked, moves) => {
    let history = begin(asked)
    for (const one of moves) {
      const played = play(history, one)
      check(played)
      history = played.next
    }
  })
  void fc.assert(property, { numRuns: runs, seed: SEED })
}

/** Gives random requests and moves to a check that performs them itself, with a store. */
export async function everyHistory(
  check: (asked: RegistrationRequest, moves: readonly Move[]) => Promise<void>,
  runs = 300,
): Promise<void> {
  const property = fc.asyncProperty(request, fc.array(move, { maxLength: 20 }), check)
  await fc.assert(property, { numRuns: runs, seed: SEED })
}

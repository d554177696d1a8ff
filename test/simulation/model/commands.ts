import fc from 'fast-check'
import { expect } from 'vitest'
import { refold } from '../../../src/core/process/fold.ts'
import { endAs, type HolderName, isOver, leaveWait, type Model, waitName } from './model.ts'
import { MAX_PENDING, type Real } from './real.ts'

type Command = fc.AsyncCommand<Model, Real>
type StopHow = 'interrupt' | 'cancel' | 'kill'

const holder = fc.constantFrom<HolderName>('k_a', 'k_b')
const name = fc.constantFrom('go', 'stop')
const key = fc.constantFrom('1', '2', '3')
/** Usually the current fence, sometimes the one before. */
const age = fc.constantFrom(0, 0, 0, 1)

/** All requests to one process, in any order. */
export const commands: fc.Arbitrary<Command>[] = [
  holder.map((who) => command(`claim by ${who}`, (model, real) => claim(model, real, who))),
  holder.map((who) => command(`release by ${who}`, (model, real) => release(model, real, who))),
  age.map((old) => command(`recover, ${old} behind`, (model, real) => recover(model, real, old))),
  fc
    .tuple(name, key)
    .map(([of, id]) => command(`signal ${of} ${id}`, (model, real) => signal(model, real, of, id))),
  fc
    .tuple(name, holder, age)
    .map(([of, who, old]) =>
      command(`${who} waits on ${of}, ${old} behind`, (model, real) => enterWait(model, real, of, who, old)),
    ),
  fc
    .tuple(holder, age)
    .map(([who, old]) =>
      command(`${who} gives up waiting, ${old} behind`, (model, real) =>
        giveUpWaiting(model, real, who, old),
      ),
    ),
  fc
    .tuple(name, fc.integer({ min: 1, max: 3 }))
    .map(([of, ordinal]) =>
      command(`answer ${of} ${ordinal}`, (model, real) => answer(model, real, { name: of, ordinal })),
    ),
  fc.constant(command('pause', pause)),
  fc.constant(command('resume', resume)),
  fc
    .tuple(fc.constantFrom<StopHow>('interrupt', 'cancel', 'kill'), key)
    .map(([how, id]) => command(`${how} ${id}`, (model, real) => stop(model, real, how, id))),
  fc
    .tuple(holder, age, key, fc.constantFrom('completed' as const, 'failed' as const))
    .map(([who, old, id, status]) =>
      command(`${who} ends it as ${status} ${id}, ${old} behind`, (model, real) =>
        end(model, real, who, old, id, status),
      ),
    ),
  fc
    .tuple(fc.option(holder), age, key, fc.constantFrom('x', 'y'))
    .map(([who, old, id, text]) =>
      command(`${who ?? 'a client'} notes ${text} as ${id}, ${old} behind`, (model, real) =>
        note(model, real, who, old, id, text),
      ),
    ),
  fc.constant(command('ask to abandon', abandon)),
]

/** Each command returns the model's answer; for all of them answers and states must agree. */
function command(
  what: string,
  run: (model: Model, real: Real) => Promise<{ told: string; expected: string }>,
): Command {
  return {
    check: () => true,
    toString: () => what,
    async run(model, real) {
      const { told, expected } = await run(model, real)
      expect(told).toBe(expected)
      await expectSame(model, real)
    },
  }
}

async function expectSame(model: Model, real: Real): Promise<void> {
  const [row, events] = [await real.row(), await real.events()]
  const { record } = row
  const idOf = (seq: number) => (events[seq - 1]?.payload as { id: string } | undefined)?.id
  const pending = Object.entries(record.signals).filter(([, queue]) => queue.pending.length > 0)
  expect({
    status: record.status,
    holder: row.holder,
    fence: row.fence,
    waits: record.wait === null ? null : { name: record.wait.name, ordinal: record.wait.ordinal },
    stop: record.stopRequest?.how ?? null,
    ended: record.outcome?.status ?? null,
    untaken: Object.fromEntries(pending.map(([of, queue]) => [of, queue.pending.map(idOf)])),
    begun: events.filter(({ type }) => type === 'started').length,
  }).toEqual({
    status: model.status,
    holder: model.holder,
    fence: model.fence,
    waits: model.waitsFor,
    stop: model.stop,
    ended: model.end?.status ?? null,
    untaken: Object.fromEntries([...model.untaken].filter(([, ids]) => ids.length > 0)),
    begun: model.begun,
  })
  expect(refold(events)).toEqual(record)
}

async function claim(model: Model, real: Real, who: HolderName) {
  const granted = model.status === 'queued' && model.holder === null
  if (granted) {
    model.status = 'running'
    model.holder = who
    model.fence += 1
    model.begun += 1
    model.entered.clear()
  }
  return { told: String(await real.claim(who)), expected: String(granted) }
}

async function release(model: Model, real: Real, who: HolderName) {
  const told = await real.ask({ type: 'release', fence: { holder: who, fence: model.fence } })
  if (isOver(model) || model.holder !== who) return { told, expected: 'kept' }
  if (model.abandonAsked) endAs(model, 'abandoned', 'release')
  else if (model.stop !== null) endAs(model, 'cancelled', 'release')
  else putBack(model)
  return { told, expected: 'appended' }
}

async function recover(model: Model, real: Real, old: number) {
  const observed = { holder: model.holder ?? 'k_a', fence: model.fence - old }
  const told = await real.ask({ type: 'put_back', observed, evidence: 'holder_dead', retryAt: 0 })
  if (isOver(model)) return { told, expected: 'already_ended' }
  if (model.holder === null || old > 0) return { told, expected: 'stale_fence' }
  if (model.abandonAsked) endAs(model, 'abandoned', 'recovery')
  else if (model.stop !== null) endAs(model, 'cancelled', 'recovery')
  else putBack(model)
  return { told, expected: 'appended' }
}

function putBack(model: Model): void {
  model.holder = null
  model.waitsFor = null
  model.before = 'queued'
  if (model.status !== 'paused') model.status = 'queued'
}

async function signal(model: Model, real: Real, of: string, id: string) {
  const told = await real.ask({ type: 'signal', name: of, id, value: id })
  if (model.sent.has(`${of} ${id}`)) return { told, expected: 'replayed' }
  if (isOver(model)) return { told, expected: 'already_ended' }
  const untaken = model.untaken.get(of) ?? []
  if (untaken.length >= MAX_PENDING) return { told, expected: 'signals_full' }
  model.sent.set(`${of} ${id}`, id)
  if (model.waitsFor?.name === of) leaveWait(model, id)
  else model.untaken.set(of, [...untaken, id])
  return { told, expected: 'appended' }
}

async function enterWait(model: Model, real: Real, of: string, who: HolderName, old: number) {
  const ordinal = (model.entered.get(of) ?? 0) + 1
  const fence = { holder: who, fence: model.fence - old }
  const told = await real.ask({
    type: 'enter_wait',
    wait: { on: 'signal', name: of, ordinal },
    until: null,
    fence,
  })
  if (isOver(model)) return { told, expected: 'already_ended' }
  if (model.holder !== who || old > 0) return { told, expected: 'stale_fence' }
  const wait = { name: of, ordinal }
  if (model.left.has(waitName(wait))) {
    model.entered.set(of, ordinal)
    return { told, expected: 'replayed' }
  }
  if (model.waitsFor !== null) return { told, expected: 'conflict' }
  if (model.status === 'stopping') return { told, expected: 'stopping' }
  model.entered.set(of, ordinal)
  if (model.status === 'paused') model.before = 'waiting'
  else model.status = 'waiting'
  model.waitsFor = wait
  const [first, ...rest] = model.untaken.get(of) ?? []
  if (first !== undefined) {
    model.untaken.set(of, rest)
    leaveWait(model, first)
  }
  return { told, expected: 'appended' }
}

async function giveUpWaiting(model: Model, real: Real, who: HolderName, old: number) {
  const { name: of, ordinal } = model.waitsFor ?? { name: 'go', ordinal: 9 }
  const fence = { holder: who, fence: model.fence - old }
  const wait = { on: 'signal', name: of, ordinal } as const
  const told = await real.ask({ type: 'leave_wait', wait, how: 'timed_out', value: null, fence })
  if (isOver(model)) return { told, expected: 'already_ended' }
  if (model.holder !== who || old > 0) return { told, expected: 'stale_fence' }
  if (model.waitsFor === null) return { told, expected: 'not_waiting' }
  leaveWait(model, null)
  return { told, expected: 'appended' }
}

async function answer(model: Model, real: Real, wait: { name: string; ordinal: number }) {
  const told = await real.ask({ type: 'answer', wait: { on: 'signal', ...wait }, value: 'yes' })
  if (isOver(model) || model.left.has(waitName(wait))) return { told, expected: 'kept' }
  if (model.waitsFor !== null && waitName(model.waitsFor) === waitName(wait)) leaveWait(model, 'yes')
  else model.left.set(waitName(wait), 'yes')
  return { told, expected: 'appended' }
}

async function pause(model: Model, real: Real) {
  const told = await real.ask({ type: 'pause' })
  if (isOver(model)) return { told, expected: 'already_ended' }
  if (model.status === 'paused') return { told, expected: 'kept' }
  if (model.status === 'stopping') return { told, expected: 'stopping' }
  model.before = model.status as Model['before']
  model.status = 'paused'
  return { told, expected: 'appended' }
}

async function resume(model: Model, real: Real) {
  const told = await real.ask({ type: 'resume' })
  if (isOver(model)) return { told, expected: 'already_ended' }
  if (model.status !== 'paused') return { told, expected: 'not_paused' }
  model.status = model.before
  return { told, expected: 'appended' }
}

const STRENGTH: Readonly<Record<StopHow, number>> = { interrupt: 1, cancel: 2, kill: 3 }

async function stop(model: Model, real: Real, how: StopHow, id: string) {
  const told = await real.ask({ type: 'stop', how, reason: how, cause: null, replayKey: `stop ${how} ${id}` })
  if (isOver(model)) return { told, expected: 'kept' }
  if (model.notes.has(`stop ${how} ${id}`)) return { told, expected: 'replayed' }
  if (model.stop !== null && STRENGTH[how] <= STRENGTH[model.stop]) return { told, expected: 'kept' }
  model.notes.set(`stop ${how} ${id}`, '')
  model.stop = how
  model.status = 'stopping'
  if (model.holder === null) endAs(model, 'cancelled', 'stop')
  return { told, expected: 'appended' }
}

async function end(
  model: Model,
  real: Real,
  who: HolderName,
  old: number,
  id: string,
  status: 'completed' | 'failed',
) {
  const replayKey = `end ${id}`
  const fence = { holder: who, fence: model.fence - old }
  const told = await real.ask({ type: 'end', ending: { status, result: status }, replayKey, fence })
  if (model.end !== null) {
    if (model.end.key !== replayKey) return { told, expected: 'already_ended' }
    return { told, expected: model.end.status === status ? 'replayed' : 'replay_conflict' }
  }
  if (model.holder !== who || old > 0) return { told, expected: 'stale_fence' }
  endAs(model, status, replayKey)
  return { told, expected: 'appended' }
}

async function note(model: Model, real: Real, who: HolderName | null, old: number, id: string, text: string) {
  const replayKey = `note ${id}`
  const fence = who === null ? null : { holder: who, fence: model.fence - old }
  const told = await real.ask({ type: 'append', event: 'note', payload: text, replayKey, fence })
  const known = model.notes.get(replayKey)
  if (known !== undefined) return { told, expected: known === text ? 'replayed' : 'replay_conflict' }
  if (isOver(model)) return { told, expected: 'already_ended' }
  if (who === null && model.holder !== null) return { told, expected: 'not_holding' }
  if (who !== null && (model.holder !== who || old > 0)) return { told, expected: 'stale_fence' }
  model.notes.set(replayKey, text)
  return { told, expected: 'appended' }
}

async function abandon(model: Model, real: Real) {
  const told = await real.ask({ type: 'request_abandon', reason: 'nobody needs it' })
  if (isOver(model)) return { told, expected: 'already_ended' }
  if (model.abandonAsked) return { told, expected: 'kept' }
  model.abandonAsked = true
  if (model.holder === null) endAs(model, 'abandoned', 'abandon')
  return { told, expected: 'appended' }
}

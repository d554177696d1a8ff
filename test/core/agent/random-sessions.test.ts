import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AgentAct } from '../../../src/core/agent/act.ts'
import { isOnBranch } from '../../../src/core/agent/branch.ts'
import { entriesInView } from '../../../src/core/agent/history.ts'
import { nextStep } from '../../../src/core/agent/next-step.ts'
import type { AgentAnswer, AgentRequest } from '../../../src/core/agent/request.ts'
import { type AgentState, MAX_RECENT_ALERTS, phaseOf } from '../../../src/core/agent/state.ts'
import { objectOf } from '../../../src/core/json/json.ts'
import type { ProcessEvent } from '../../../src/core/process/event.ts'
import { refold } from '../../../src/core/process/fold.ts'
import { PureAgent, run, text } from './pure-agent.ts'
import { ReferenceAgent } from './reference-agent.ts'

/** The same sequences in every run; another seed finds others. */
const SEED = 20_261_117
const SEQUENCES = 10_000

const moves = [
  fc.record({ move: fc.constant('run' as const), mode: fc.constantFrom('run', 'queue', 'steer') }),
  fc.record({
    move: fc.constantFrom('resume', 'pause', 'notify', 'compact', 'reorder', 'limit', 'allow', 'shutdown'),
  }),
  fc.record({
    move: fc.constant('rewind' as const),
    turn: fc.nat(5),
    isBranch: fc.boolean(),
    undoFiles: fc.boolean(),
  }),
  fc.record({ move: fc.constant('put_back' as const), late: fc.boolean() }),
  fc.record({ move: fc.constant('cancel' as const), drops: fc.boolean() }),
  fc.record({ move: fc.constant('note' as const), hasFailed: fc.boolean() }),
  fc.record({ move: fc.constant('remove' as const), place: fc.nat(4) }),
  fc.record({ move: fc.constantFrom('repeat', 'claim', 'claim', 'crash', 'release', 'idle', 'usage') }),
  fc.record({ move: fc.constant('crashes' as const), times: fc.nat(6) }),
  fc.record({ move: fc.constantFrom('begin', 'output', 'cut', 'begin_used_up'), late: fc.boolean() }),
  fc.record({ move: fc.constant('answer' as const), tools: fc.nat(3), late: fc.boolean() }),
  fc.record({ move: fc.constant('result' as const), index: fc.nat(3), late: fc.boolean() }),
  fc.record({
    move: fc.constant('end' as const),
    reason: fc.constantFrom('finished', 'provider_error', 'refused'),
    late: fc.boolean(),
  }),
  // What a working executor does: most sessions would get nowhere by chance.
  fc.record({ move: fc.constant('work' as const), tools: fc.nat(2) }),
]
const move = fc.oneof(
  ...moves,
  moves.at(-1) as (typeof moves)[number],
  moves.at(-1) as (typeof moves)[number],
)
type Move = typeof move extends fc.Arbitrary<infer Value> ? Value : never

/** One session: the agent, the second opinion about it, and the requests so far. */
class Session {
  readonly agent = new PureAgent()
  readonly reference = new ReferenceAgent()
  #last: { request: AgentRequest; answer: AgentAnswer | string } | null = null
  #count = 0

  play(one: Move): void {
    switch (one.move) {
      case 'run':
        this.#ask(run(this.#id(), one.mode as 'run'))
        break
      case 'resume':
      case 'pause':
      case 'compact':
      case 'shutdown':
        // Rarely, or no session would be long.
        if (one.move !== 'shutdown' || this.#count % 7 === 0) this.#ask({ type: one.move, id: this.#id() })
        return
      case 'cancel':
        this.#ask({ type: 'cancel_turn', id: this.#id(), dropQueued: one.drops })
        break
      case 'rewind': {
        const turn = Math.max(1, this.reference.turns - one.turn)
        const to = one.isBranch ? { branch: String(turn) } : { turn }
        this.#ask({ type: 'rewind', id: this.#id(), to, ...(one.undoFiles ? { undoFiles: true } : {}) })
        break
      }
      case 'note': {
        const job = 'p_bzzzzzzzzzzz'
        const note = one.hasFailed
          ? ({ type: 'failed', job, message: 'x' } as const)
          : ({ type: 'updated', job, through: this.agent.row.record.revision, files: [] } as const)
        const request = { type: 'note_memory', id: this.#id(), note } as const
        assert.equal(this.agent.request(request), this.reference.request(request))
        return
      }
      case 'notify':
        this.#ask({ type: 'notify', id: this.#id(), cause: 'notify', parts: text('x') })
        break
      case 'limit':
        this.#ask({ type: 'exceed_limit', id: this.#id(), limit: 'cost' })
        break
      case 'allow':
        this.#ask({ type: 'allow', id: this.#id(), amounts: { cost: 1 } })
        break
      case 'remove': {
        const input = this.reference.queue[one.place]?.id ?? 'none'
        this.#ask({ type: 'remove_input', id: this.#id(), input })
        break
      }
      case 'reorder': {
        const inputs = this.reference.queue.map(({ id }) => id).reverse()
        this.#ask({ type: 'reorder_inputs', id: this.#id(), inputs })
        break
      }
      case 'repeat':
        this.#repeat()
        break
      case 'claim':
        this.reference.isHeld = this.agent.claim() || this.reference.isHeld
        return
      case 'crash':
        if (this.agent.crash() !== 'free') this.reference.crash()
        return
      case 'crashes':
        for (let crash = 0; crash < one.times; crash++) {
          this.play({ move: 'claim' })
          this.play({ move: 'crash' })
        }
        return
      case 'release':
        if (this.reference.isHeld && !this.reference.isStopping && this.agent.release() === 'done')
          this.reference.isHeld = false
        return
      case 'idle':
        this.#act({ type: 'go_idle' }, this.reference.goIdle())
        break
      case 'usage':
        this.agent.act(usage(this.agent))
        break
      case 'work':
        this.#work(one.tools)
        break
      default:
        this.#executorMove(one)
    }
  }

  #executorMove(one: Extract<Move, { late: boolean }>): void {
    const turn = this.reference.turns - (one.late ? 1 : 0)
    const { turn: open } = this.reference
    const call = open?.call ?? open?.calls ?? 1
    const at = { turn, call }
    switch (one.move) {
      case 'begin':
      case 'begin_used_up': {
        const isUsedUp = one.move === 'begin_used_up'
        const purpose = open?.isCompaction === true ? 'compaction' : 'answer'
        const begin = { type: 'begin_call', turn, call: (open?.calls ?? 0) + 1, model: 'm', purpose } as const
        this.#act(begin, this.reference.beginCall(turn, isUsedUp), isUsedUp ? 'cost' : null)
        break
      }
      case 'output':
        this.#act({ type: 'begin_output', ...at }, this.reference.endCall(turn, 'output'))
        break
      case 'cut':
        this.#act({ type: 'cut_call', ...at, why: 'network' }, this.reference.endCall(turn, 'cut'))
        break
      case 'answer':
        this.#act(answerOf(at, one.tools), this.reference.endCall(turn, one.tools))
        break
      case 'result': {
        const { index } = one
        const result = { type: 'record_result', ...at, index, parts: text('ok'), isError: false } as const
        this.#act(result, this.reference.result(turn, index))
        break
      }
      case 'put_back':
        if (turn === 0) return
        this.#act({ type: 'put_back', turn, files: [], left: [], key: 'end' }, this.reference.putBack(turn))
        break
      case 'end': {
        const reason = one.reason as 'finished'
        this.#act({ type: 'end_turn', turn, reason }, this.reference.endTurn(turn, reason))
      }
    }
  }

  /** One step of an executor that does what the state says. */
  #work(tools: number): void {
    const step = this.agent.row.holder === null ? null : nextStep(this.agent.row.record)
    switch (step?.type) {
      case undefined:
        this.play({ move: 'claim' })
        break
      case 'none':
        break
      case 'go_idle':
        this.play({ move: 'idle' })
        break
      case 'cut_call': {
        const answers = this.reference.turn?.isCompaction !== true
        this.play({ move: answers ? 'answer' : 'cut', tools, late: false } as Move)
        break
      }
      case 'run_tools':
        this.play({ move: 'result', index: step.tools[0]?.index ?? 0, late: false })
        break
      case 'undo_files':
        this.play({ move: 'put_back', late: false })
        break
      case 'call_model':
        this.play({ move: 'begin', late: false })
        break
      case 'end_turn':
        this.play({ move: 'end', reason: 'finished', late: false })
    }
  }

  #ask(request: AgentRequest): void {
    const before = this.agent.row
    const answer = this.agent.request(request)
    const expected = this.reference.request(request)
    assert.equal(typeof answer === 'string' ? answer : answer.type, expected)
    // A refusal changes nothing.
    if (typeof answer === 'string') assert.equal(this.agent.row, before)
    else this.#last = { request, answer }
  }

  #repeat(): void {
    if (this.#last === null) return
    const before = this.agent.row
    assert.deepEqual(this.agent.request(this.#last.request), this.#last.answer)
    assert.equal(this.agent.row, before)
  }

  /** An act that is written twice counts once: so a repetition may be accepted where the reference refuses. */
  #act(act: AgentAct, isExpected: boolean, usedUp: 'cost' | null = null): void {
    const before = this.agent.row
    const done = this.agent.act(act, usedUp)
    if (done === 'replayed') {
      if (act.type !== 'begin_output' && act.type !== 'put_back') assert.equal(isExpected, false)
      assert.equal(this.agent.row, before)
    } else assert.equal(done === 'done', isExpected, act.type)
    if (done !== 'done') assert.equal(this.agent.row, before)
  }

  #id(): string {
    this.#count += 1
    return `r${this.#count}`
  }
}

function answerOf(at: { turn: number; call: number }, tools: number): AgentAct {
  const calls = Array.from({ length: tools }, (_, index) => ({
    type: 'tool_call' as const,
    callId: `${at.turn}.${at.call}.${index}`,
    tool: 't',
    parts: text('{}'),
  }))
  return { type: 'record_answer', ...at, model: 'm', items: [{ type: 'item', parts: text('a') }, ...calls] }
}

function usage({ agent: { turns, turn } }: PureAgent): AgentAct {
  const call = turn?.calls ?? 1
  const tokens = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 }
  return { type: 'record_usage', turn: turns, call, model: 'm', ...tokens, cost: 0.1, isEstimate: false }
}

test('10,000 random sessions: no cancel, input or notice is lost, and every prompt is valid', () => {
  const reached = new Set<string>()
  const property = fc.property(fc.array(move, { minLength: 5, maxLength: 40 }), (sequence) => {
    const session = new Session()
    for (const one of sequence) {
      session.play(one)
      checkState(session)
    }
    checkLog(session)
    for (const { type, payload } of session.agent.events)
      reached.add(type === 'turn_ended' ? `${objectOf(payload)['reason']}` : type)
  })
  void fc.assert(property, { numRuns: SEQUENCES, seed: SEED })
  // A test that never gets there proves nothing.
  for (const type of [
    'finished',
    'cancelled',
    'rolled_back',
    'paused',
    'limit:cost',
    'session_rewound',
    'memory_noted',
    'files_put_back',
    'crashed',
    'tool_answered',
  ])
    expect(reached).toContain(type)
})

/** The record agrees with the second opinion, and is one of the legal combinations. */
function checkState({ agent, reference }: Session): void {
  const { record, holder } = agent.row
  const { turn, inputs, notices } = agent.agent
  assert.equal(record.outcome !== null, reference.isEnded)
  assert.equal(holder !== null, reference.isHeld && !reference.isEnded)
  if (reference.isEnded) {
    assert.equal(turn, null)
    return
  }
  assert.equal(phaseOf(record), reference.phase)
  assert.equal(agent.agent.unanswered === undefined, reference.unanswered === null)
  // They are facts beside the branch, which no rewind takes back.
  assert.equal(agent.agent.memory?.through, reference.memoryThrough)
  assert.equal(failedJobs(agent.agent), Math.min(reference.failedJobs, MAX_RECENT_ALERTS))
  assert.equal(turn?.number, reference.turn?.number)
  assert.equal(turn?.tools.length ?? 0, reference.turn?.tools.size ?? 0)
  assert.equal(idsOf(inputs), idsOf(reference.queue))
  assert.equal(idsOf(notices.kept), reference.notices.join())
  if (holder === null && turn === null && !reference.isPaused)
    assert.equal(`${record.status} ${record.wait?.on} ${record.parked}`, 'waiting input true')
  if (holder === null && turn !== null && !reference.isPaused) assert.equal(record.status, 'queued')
  if (record.status === 'paused') assert.notEqual(turn, null)
  if (holder !== null && !reference.isStopping && !reference.isPaused)
    assert.equal(`${record.status} ${record.wait}`, 'running null')
}

function failedJobs({ alerts = [] }: AgentState): number {
  return alerts.filter(({ alert }) => alert === 'memory_failed').length
}

function idsOf(all: readonly { readonly id: string }[]): string {
  return all.map(({ id }) => id).join()
}

function checkLog(session: Session): void {
  const { agent, reference } = session
  const { events, row } = agent
  assert.deepEqual(refold(JSON.parse(JSON.stringify(events))), JSON.parse(JSON.stringify(row.record)))
  // Each input is in one place: it waits, was taken once, or was removed on request.
  const promoted = events.filter(({ type }) => type === 'input_promoted').map(inputOf)
  assert.deepEqual(promoted, reference.promoted)
  assert.equal(new Set(promoted).size, promoted.length)
  const waiting = agent.agent.inputs.map(({ id }) => id)
  assert.deepEqual([...promoted, ...waiting, ...reference.removed].sort(), [...reference.admitted].sort())
  // An input that was taken is in the view, unless its turn was rolled back or is on another branch.
  const view = entriesInView(events)
  const seen = view.filter(({ type }) => type === 'input_promoted').map(inputOf)
  assert.deepEqual(seen, reference.onBranch)
  checkBranches(session)
  checkNothingAfterEnd(events)
  checkPrompts(view, agent.agent.turn?.tools.length ?? 0)
}

/** Every turn that has ended can be gone back to, and then the state of its branch is the one that it left. */
function checkBranches({ agent, reference }: Session): void {
  const { tree } = agent
  assert.deepEqual([...tree.turns.keys()], [...reference.nodes.keys()])
  const path = tree.pathTo(tree.tip).map(({ number }) => number)
  const { turn, turns } = agent.agent
  const all = Array.from({ length: turns }, (_, index) => index + 1)
  const on = all.filter((number) => isOnBranch(agent.agent, number) && reference.nodes.has(number))
  assert.deepEqual(on, path)
  assert.equal(
    turn === null ? agent.agent.head : turn.follows,
    tree.turns.get(path.at(-1) ?? 0)?.end?.place ?? 0,
  )
}

function inputOf({ payload }: { readonly payload: unknown }): unknown {
  return objectOf(payload as ProcessEvent['payload'])['input']
}

/** The work was done, also if its turn was cancelled meanwhile. */
const AFTER_ITS_TURN = new Set(['model_used', 'agent_requested', 'files_put_back'])

/** No cancel is lost: a turn that has ended gets no entry any more. */
function checkNothingAfterEnd(events: readonly ProcessEvent[]): void {
  const ended = new Set<unknown>()
  for (const { type, payload } of events) {
    const { turn, alert } = objectOf(payload)
    if (AFTER_ITS_TURN.has(type) || alert === 'memory_failed' || turn === undefined) continue
    assert.equal(ended.has(turn), false, type)
    if (type === 'turn_ended') ended.add(turn)
  }
}

/** As a strict provider reads it: each tool call is answered once, before anything else is said. */
function checkPrompts(view: ReturnType<typeof entriesInView>, open: number): void {
  const asked = new Set<string>()
  const answered = new Set<string>()
  let lastCall = ''
  for (const entry of view) {
    const { type, payload } = entry
    if (type === 'tool_called') {
      const key = `${payload.turn}.${payload.call}.${payload.index}`
      assert.equal(asked.has(key), false)
      asked.add(key)
    }
    if (type === 'tool_answered') {
      const key = `${payload.turn}.${payload.call}.${payload.index}`
      assert.equal(asked.has(key) && !answered.has(key), true, key)
      answered.add(key)
    }
    if (type === 'assistant_item' || type === 'input_promoted') {
      const call = `${payload.turn}.${payload.call}`
      if (call !== lastCall || type === 'input_promoted') assert.equal(answered.size, asked.size)
      lastCall = call
    }
  }
  assert.equal(asked.size - answered.size, open)
}

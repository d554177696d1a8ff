import type { UpdateStep } from '../../core/agent/act.ts'
import {
  MAX_PERMISSIONS,
  type OpenPermission,
  outsideProgramOf,
  type ProgramState,
  signInRemedy,
} from '../../core/agent/outside.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import { phaseOf, toolCallName } from '../../core/agent/state.ts'
import { ReeveError, RefusedError } from '../../core/errors.ts'
import { type JsonObject, objectOf } from '../../core/json/json.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import type { AgentLedger } from '../agent-ledger.ts'
import type { AgentParts } from '../agent-parts.ts'
import type { KeptIncoming } from '../kept-rpc/incoming.ts'
import { keptMessages } from '../kept-rpc/kept-messages.ts'
import {
  errorMessage,
  METHOD_NOT_FOUND,
  notificationMessage,
  type RpcId,
  type RpcMessage,
  resultMessage,
} from '../kept-rpc/rpc-message.ts'
import { isTakenOver } from '../kept-rpc/taken-over.ts'
import { writeMessage } from '../kept-rpc/write-message.ts'
import { LiveCall } from '../live-call.ts'
import { FIRST_SEQ } from './handshake.ts'
import { OUTSIDE_TIMES, type OutsideParts } from './outside-parts.ts'
import { askPeople, CANCELLED, optionsIn, replyOf } from './permissions.ts'
import type { ProgramLog } from './program-log.ts'
import { programUpdate } from './program-update.ts'
import { endOfPrompt } from './stop-reason.ts'
import { TurnSteps } from './turn-steps.ts'

interface PromptRunParts {
  readonly ledger: AgentLedger
  readonly agent: AgentParts
  readonly outside: OutsideParts
  readonly log: ProgramLog
  readonly record: ProcessRecord
  readonly model: string
}

/** The dollars of a prompt; null if its program does not tell them. */
export interface PromptUse {
  readonly call: number
  readonly dollars: number | null
}

/** One prompt from its write to its answer, in one program or in several kernels: what is taken is in the log with its offset. */
export class PromptRun {
  readonly #parts: PromptRunParts
  readonly #steps: TurnSteps
  readonly #reading = new AbortController()
  readonly #asking = new AbortController()
  readonly #answering = new Set<Promise<void>>()
  #live: LiveCall
  /** The end of the last message that was taken. */
  #taken: number
  #dollars: number | null = null
  #isCancelled = false
  /** The program has answered, or is gone: the end of the turn is no reason to cancel. */
  #isOver = false
  #stopTimer: () => void = () => undefined

  constructor(parts: PromptRunParts) {
    this.#parts = parts
    this.#steps = new TurnSteps(parts.record, parts.agent.mask)
    this.#live = this.#liveCall()
    this.#taken = parts.log.state.offset
  }

  get #turn(): number {
    return this.#parts.log.state.prompt?.turn ?? 0
  }

  get #verbs() {
    return this.#parts.outside.verbsOf(this.#parts.record)
  }

  /** Resolves when the program has answered the prompt, or is gone. `signal`: the turn is over, or paused. */
  async run(signal: AbortSignal): Promise<PromptUse> {
    const { log, ledger } = this.#parts
    const { work } = ledger
    const cancel = () => this.#answer(this.#cancel())
    signal.addEventListener('abort', cancel, { once: true })
    try {
      for (const permission of log.state.permissions) this.#wait(permission)
      if (signal.aborted) cancel()
      const { pid, offset } = log.state
      const until = AbortSignal.any([work.signal, this.#reading.signal])
      for await (const item of keptMessages(this.#verbs, pid, offset, until)) {
        work.signal.throwIfAborted()
        await this.#take(item)
        if (this.#isOver) break
        this.#taken = item.end
      }
      work.signal.throwIfAborted()
      return { call: this.#steps.call, dollars: this.#dollars }
    } finally {
      signal.removeEventListener('abort', cancel)
      this.#stopTimer()
      this.#reading.abort()
      this.#asking.abort()
      await Promise.all(this.#answering)
      await this.#live.close()
    }
  }

  async #take({ incoming, end }: KeptIncoming): Promise<void> {
    switch (incoming.type) {
      case 'message':
        await this.#message(incoming.message, end)
        break
      case 'garbage':
        await this.#trouble(`The program wrote a line that is no message: ${incoming.text}`, 'garbage')
        break
      case 'too_long':
        await this.#trouble('A message of the program is too long, and was left out.', 'too long')
        break
      case 'lost':
        await this.#gone(`messages of the program are lost: ${incoming.why}`, end)
        break
      case 'ended':
        await this.#gone(incoming.why, end)
    }
  }

  async #message(message: RpcMessage, end: number): Promise<void> {
    switch (message.type) {
      case 'notification':
        if (message.method === 'session/update') await this.#update(message.params, end)
        break
      case 'request':
        await this.#request(message, end)
        break
      default:
        if (message.id === this.#promptId) await this.#answered(message, end)
    }
  }

  get #promptId(): string {
    return promptId(this.#parts.log.state)
  }

  async #update({ sessionId, update }: JsonObject, end: number): Promise<void> {
    if (sessionId !== this.#parts.log.state.session || this.#isCancelled) return
    const reported = programUpdate(objectOf(update))
    switch (reported.type) {
      case 'other':
        return
      case 'cost':
        this.#dollars = reported.dollars
        return
      case 'text':
      case 'thinking':
        if (reported.text === '') return
        if (this.#steps.beginsCall) await this.#nextCall(end)
        this.#live.append({ ...reported, part: 0 })
        if (this.#steps.say(reported)) await this.#flush(end)
        return
      default:
        if (reported.type === 'tool' && this.#steps.isNew(reported) && this.#steps.beginsCall)
          await this.#nextCall(end)
        if (this.#steps.take(reported)) await this.#flush(end)
    }
  }

  /** The model behind the program begins another answer, with the results of its tools. */
  async #nextCall(end: number): Promise<void> {
    await this.#live.close()
    this.#steps.nextCall()
    // The update that begins it is not taken yet: the offset stays before it.
    await this.#flush(null, `call:${end}`)
    this.#live = this.#liveCall()
  }

  #liveCall(): LiveCall {
    const { agent, ledger } = this.#parts
    return new LiveCall(agent.live, ledger, { turn: this.#turn, call: this.#steps.call })
  }

  /** `end`: everything before it is in the log now; null: the offset stays. */
  async #flush(end: number | null, key = `update:${end}`): Promise<void> {
    const { log, model } = this.#parts
    const steps = this.#steps.drain()
    await log.inOrder(() =>
      log.record(this.#turn, model, steps, () => (end === null ? {} : { offset: end }), this.#key(key)),
    )
  }

  #key(what: string): string {
    return `${this.#parts.log.state.pid}:${what}`
  }

  async #request(
    { id, method, params }: Extract<RpcMessage, { type: 'request' }>,
    end: number,
  ): Promise<void> {
    const { log } = this.#parts
    if (method !== 'session/request_permission')
      return this.#reply(id, errorMessage(id, METHOD_NOT_FOUND, `${method} is not supported`), end)
    const isAskable = optionsIn(params).length > 0 && log.state.permissions.length < MAX_PERMISSIONS
    if (this.#isCancelled || !isAskable) return this.#reply(id, resultMessage(id, CANCELLED), end)
    if (log.state.permissions.some((open) => open.id === id)) return
    await this.#ask(id, params, end)
  }

  async #ask(id: RpcId, params: JsonObject, end: number): Promise<void> {
    const { log, record, model } = this.#parts
    const { pid: agent } = record
    const call = this.#steps.callOf(objectOf(params['toolCall']))
    // The request itself is not taken yet: the call is open before people are asked about it.
    if (call.isNew) await this.#flush(this.#taken, `asks:${end}`)
    const asking = {
      verbs: this.#verbs,
      agent,
      owner: {
        session: agentSessionOf(agent),
        ...(call.ref === null ? {} : { toolCall: toolCallName(agent, { turn: this.#turn, ...call.ref }) }),
      },
      program: log.state.pid,
      name: model.slice(model.indexOf('/') + 1),
      request: params,
      id,
      end,
    }
    const permission = await askPeople(asking)
    const steps = this.#steps.drain()
    await log.inOrder(() =>
      log.record(
        this.#turn,
        model,
        steps,
        ({ permissions }) => ({ offset: end, permissions: [...permissions, permission] }),
        this.#key(`asked:${end}`),
      ),
    )
    this.#wait(permission)
  }

  #wait(permission: OpenPermission): void {
    const { ledger } = this.#parts
    const signal = AbortSignal.any([ledger.work.signal, this.#asking.signal])
    this.#answer(
      replyOf(this.#verbs, permission, signal).then((result) =>
        this.#settle(permission, resultMessage(permission.id, result)),
      ),
    )
  }

  /** Keeps a task until the end of the prompt. */
  #answer(task: Promise<void>): void {
    const { ledger } = this.#parts
    const { work, kernel, pid } = ledger
    const done = task.catch((error: unknown) => {
      if (work.signal.aborted || this.#asking.signal.aborted) return
      // The agent has ended meanwhile, and its program with it.
      if (error instanceof RefusedError && error.code === 'already_ended') return
      kernel.edges.onTrouble(error, `answering the program of ${pid}`)
    })
    this.#answering.add(done)
    void done.then(() => this.#answering.delete(done))
  }

  async #settle(permission: OpenPermission, message: JsonObject): Promise<void> {
    const without = ({ permissions }: ProgramState) => ({
      permissions: permissions.filter(({ id }) => id !== permission.id),
    })
    const { log } = this.#parts
    await log.inOrder(async () => {
      if (!log.state.permissions.some(({ id }) => id === permission.id)) return
      await this.#send(message, without, `answer:${permission.question}`)
    })
  }

  async #reply(id: RpcId, message: JsonObject, end: number): Promise<void> {
    const { log } = this.#parts
    if (!this.#isCancelled) await this.#flush(end)
    await log.inOrder(() => this.#send(message, () => ({ offset: end }), `reply:${end}`))
  }

  async #send(
    message: JsonObject,
    change: Parameters<ProgramLog['noteSent']>[1],
    key: string,
  ): Promise<void> {
    const { log } = this.#parts
    const sent = await log.noteSent(message, change, this.#key(key))
    await this.#write(sent.message, sent.seq)
  }

  /** A program that is gone takes nothing: its end is read from its output. */
  async #write(message: JsonObject, seq: number): Promise<void> {
    try {
      await writeMessage(this.#verbs, this.#parts.log.state.pid, message, FIRST_SEQ + seq)
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code === 'closed') throw error
    }
  }

  /** The turn is over, or paused: the program is told, its questions are withdrawn, and it has a while to answer. */
  async #cancel(): Promise<void> {
    const { log, outside } = this.#parts
    if (this.#isOver) return
    this.#isCancelled = true
    const { cancelMs } = { ...OUTSIDE_TIMES, ...outside.times }
    const { session } = log.state
    const timer = setTimeout(() => this.#answer(this.#kill()), cancelMs)
    this.#stopTimer = () => clearTimeout(timer)
    const message = notificationMessage('session/cancel', { sessionId: session })
    await log.inOrder(() => this.#send(message, () => ({}), `cancel:${this.#promptId}`))
    await this.#withdrawAll()
  }

  /** The turn, or the program, waits for no answer any more. */
  async #withdrawAll(): Promise<void> {
    for (const permission of this.#parts.log.state.permissions) {
      await this.#settle(permission, resultMessage(permission.id, CANCELLED))
      await this.#withdraw(permission.question)
    }
  }

  async #withdraw(question: string): Promise<void> {
    try {
      await this.#verbs.kill({ pid: question, reason: 'the turn is over' })
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
    }
  }

  async #kill(): Promise<void> {
    const { pid } = this.#parts.log.state
    await this.#verbs.kill({ pid, reason: 'it did not end its turn' })
  }

  async #answered(message: Extract<RpcMessage, { type: 'result' | 'error' }>, end: number): Promise<void> {
    const { log, ledger, model } = this.#parts
    this.#isOver = true
    const signIn = signInRemedy(outsideProgramOf(startSpecOf(this.#parts.record)))
    const ended = endOfPrompt(message, model, signIn)
    await this.#live.close()
    await this.#withdrawAll()
    // A paused turn goes on later, with another prompt.
    const record = this.#isCancelled ? await ledger.record() : null
    const goesOn = record !== null && record.agent?.turn?.number === this.#turn
    // A report of the turn is made of what is in the log before its end.
    if (ended !== null) await this.#flush(this.#taken, `rest:${end}`)
    const steps = this.#steps.finish(goesOn)
    const cut: UpdateStep = {
      type: 'cut',
      why: record !== null && phaseOf(record) === 'paused' ? 'paused' : 'cancelled',
    }
    const ending = goesOn ? {} : ended === null ? { closes: true } : { ends: ended }
    await log.inOrder(() =>
      log.record(
        this.#turn,
        model,
        goesOn ? [...steps, cut] : steps,
        () => ({ offset: end, prompt: null, permissions: [] }),
        this.#key(`answered:${this.#promptId}`),
        ending,
      ),
    )
  }

  /** The program has ended, or cannot be followed: the turn ends with what it had reported. */
  async #gone(why: string, end: number): Promise<void> {
    const { log, model } = this.#parts
    this.#isOver = true
    await this.#live.close()
    await this.#withdrawAll()
    await this.#flush(this.#taken, `rest:${end}`)
    const message = `The program of ${model} is gone in mid-turn: ${why}. What it did since its last report is unknown.`
    await log.inOrder(() =>
      log.record(
        this.#turn,
        model,
        [],
        () => ({ offset: end, prompt: null, permissions: [] }),
        this.#key('gone'),
        { ends: { reason: 'crashed', message: this.#parts.agent.mask(message) } },
      ),
    )
    await this.#verbs
      .kill({ pid: log.state.pid, reason: 'it cannot be followed' })
      .catch((error: unknown) => {
        if (!(error instanceof RefusedError)) throw error
      })
  }

  /** Once in a turn for each sort of trouble: a program may write many such lines. */
  async #trouble(message: string, code: string): Promise<void> {
    const { ledger, agent } = this.#parts
    const turn = this.#turn
    try {
      const masked = agent.mask(message)
      await ledger.act({ type: 'report_trouble', turn, code: 'program_output', message: masked, key: code })
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code === 'stale_fence') throw error
    }
  }

  /** Writes again what an earlier kernel may not have written. The keeper knows the numbers of those that it has. */
  async writeAgain(prompt: JsonObject, position: number): Promise<void> {
    const { log } = this.#parts
    const { pid, prompt: open, sent } = log.state
    if (await isTakenOver(this.#verbs, pid, position)) return
    if (open !== null) await this.#write(prompt, open.seq)
    if (sent !== null) await this.#write(sent.message, sent.seq)
  }
}

/** The id of the request that the open prompt is. */
export function promptId({ prompt }: ProgramState): string {
  return `prompt:${prompt?.turn ?? 0}.${prompt?.call ?? 0}`
}

import type { AgentRequest } from '../../../src/core/agent/request.ts'

interface Turn {
  readonly number: number
  readonly isCompaction: boolean
  /** It began with an input. */
  hasInput: boolean
  hasOutput: boolean
  calls: number
  call: number | null
  /** Open tool calls of the last answer, by index. */
  readonly tools: Set<number>
  expects: 'model' | 'end'
  inputs: string[]
  notices: string[]
  crashes: number
  cuts: number
  /** It puts files back. */
  isUndoing: boolean
  /** All its inputs. */
  readonly taken: string[]
  readonly before: Unanswered
}

type Unanswered = { readonly hasInput: boolean } | null

/** A turn that has ended, in the tree of the session. */
interface Node {
  readonly parent: number | null
  readonly inputs: readonly string[]
  readonly before: Unanswered
  readonly after: Unanswered
}

/**
 * A small second opinion about the methods and acts of an agent, written from the method table alone: plain variables, no events.
 * Each method returns the expected type of the answer, or the expected code.
 */
export class ReferenceAgent {
  turns = 0
  turn: Turn | null = null
  isPaused = false
  isHeld = false
  isStopping = false
  isEnded = false
  queue: { readonly id: string; readonly isSteering: boolean }[] = []
  notices: string[] = []
  /** The last turn, if a limit ended it before its first model call. */
  unanswered: Unanswered = null
  /** The last turn of the branch, and all turns that a rewind can name. */
  tip: number | null = null
  readonly nodes = new Map<number, Node>()
  /** How far memory has come, and how often its job has failed. */
  memoryThrough: number | undefined
  failedJobs = 0
  readonly promoted: string[] = []
  readonly returned: string[] = []
  readonly removed: string[] = []
  readonly admitted: string[] = []

  get phase(): 'idle' | 'running' | 'paused' {
    return this.isPaused ? 'paused' : this.turn === null ? 'idle' : 'running'
  }

  request(request: AgentRequest): string {
    if (this.isEnded) return 'already_ended'
    if (this.isStopping) return 'stopping'
    switch (request.type) {
      case 'run':
        return this.#run(request.id, request.mode)
      case 'resume':
        if (this.phase === 'idle') return 'not_paused'
        if (this.phase === 'running') return 'already_running'
        this.isPaused = false
        return 'resumed'
      case 'cancel_turn': {
        if (this.phase !== 'running' || this.turn === null) return 'not_running'
        if (request.dropQueued === true) this.removed.push(...this.queue.splice(0).map(({ id }) => id))
        const reason = this.turn.hasOutput ? 'cancelled' : 'rolled_back'
        this.#end(reason)
        if (this.queue.length > 0) this.#next()
        return reason
      }
      case 'pause': {
        if (this.phase === 'paused') return 'already_paused'
        if (this.turn === null) return 'not_running'
        if (!this.turn.hasOutput) {
          this.#end('rolled_back')
          return 'rolled_back'
        }
        this.isPaused = true
        return 'paused'
      }
      case 'notify':
        this.notices.push(request.id)
        if (this.phase === 'idle') this.#next()
        return 'buffered'
      case 'compact':
        if (this.phase === 'running') return 'already_running'
        if (this.phase === 'paused') return 'invalid_request'
        this.#begin(true)
        return 'compacting'
      case 'rewind': {
        if (this.phase === 'running') return 'already_running'
        if (this.phase === 'paused') return 'invalid_request'
        const number = 'turn' in request.to ? request.to.turn : Number(request.to.branch)
        const node = this.nodes.get(number)
        if (node === undefined) return 'not_found'
        const [tip, state] = 'turn' in request.to ? [node.parent, node.before] : [number, node.after]
        if (tip === this.tip && request.undoFiles !== true) return 'invalid_request'
        this.tip = tip
        this.unanswered = state
        if (request.undoFiles === true) {
          this.#begin(false)
          if (this.turn !== null) Object.assign(this.turn, { isUndoing: true, hasOutput: true })
        }
        return 'rewound'
      }
      case 'remove_input': {
        const place = this.queue.findIndex(({ id }) => id === request.input)
        if (place === -1) return 'not_found'
        this.queue.splice(place, 1)
        this.removed.push(request.input)
        return 'removed'
      }
      case 'reorder_inputs':
        this.queue = request.inputs.flatMap((id) => this.queue.find((one) => one.id === id) ?? [])
        return 'reordered'
      case 'exceed_limit':
        if (this.turn === null) return 'kept'
        this.isPaused = false
        this.#end('limit')
        return 'limited'
      case 'allow':
        if (this.phase === 'idle' && this.unanswered !== null) this.#begin(false, this.unanswered.hasInput)
        else if (this.phase === 'idle') this.#next()
        return 'allowed'
      case 'note_memory':
        if (request.note.type === 'updated') this.memoryThrough = request.note.through
        else this.memoryThrough ??= 0
        if (request.note.type === 'failed') this.failedJobs += 1
        return 'no answer'
      case 'shutdown':
        if (this.turn !== null) this.#end('cancelled')
        this.isPaused = false
        if (this.isHeld) this.isStopping = true
        else this.isEnded = true
        return this.isHeld ? 'stopping' : 'exited'
      default:
        throw new Error(`${request.type} has no reference`)
    }
  }

  /** `isUsedUp`: nothing is left of a limit, so the turn ends instead. */
  beginCall(turn: number, isUsedUp = false): boolean {
    const open = this.#open(turn)
    if (open === null || this.isPaused || open.call !== null || open.tools.size > 0) return false
    if (open.isUndoing) return false
    if (isUsedUp) {
      this.#end('limit')
      return true
    }
    if (!open.isCompaction) {
      for (const { id } of this.queue.filter(({ isSteering }) => isSteering)) this.#promote(id)
      if (this.notices.length > 0) open.expects = 'model'
      if (!open.hasOutput) open.notices.push(...this.notices)
      if (open.expects === 'end') return false
      this.notices = []
      this.unanswered = null
    }
    open.calls += 1
    open.call = open.calls
    return true
  }

  /** `begin_output`, `record_answer` with this many tool calls, or `cut_call`. */
  endCall(turn: number, how: 'output' | 'cut' | number): boolean {
    const open = this.#open(turn)
    if (open === null || open.call === null) return false
    if (typeof how === 'number' && open.isCompaction) return false
    if (how === 'output' || typeof how === 'number') {
      open.hasOutput = true
      open.inputs = []
      open.notices = []
    }
    if (how === 'output') return true
    open.call = null
    if (typeof how === 'number') {
      for (let index = 0; index < how; index++) open.tools.add(index)
      open.expects = how === 0 ? 'end' : 'model'
      open.crashes = 0
      open.cuts = 0
    } else {
      open.cuts += 1
      if (open.cuts >= 20) this.#end('crashed')
    }
    return true
  }

  /** Also after the end of its turn. */
  putBack(turn: number): boolean {
    if (!this.isHeld || this.isEnded || turn > this.turns) return false
    const open = this.#open(turn)
    if (open?.isUndoing === true) Object.assign(open, { isUndoing: false, expects: 'end' })
    return true
  }

  /** The inputs that the current branch has. */
  get onBranch(): readonly string[] {
    const inputs: string[] = [...(this.turn?.taken ?? [])]
    for (let at = this.tip; at !== null; ) {
      const node = this.nodes.get(at)
      inputs.unshift(...(node?.inputs ?? []))
      at = node?.parent ?? null
    }
    return inputs
  }

  result(turn: number, index: number): boolean {
    const open = this.#open(turn)
    if (open === null || !open.tools.delete(index)) return false
    open.crashes = 0
    open.cuts = 0
    open.expects = 'model'
    return true
  }

  endTurn(turn: number, reason: 'finished' | 'provider_error' | 'refused'): boolean {
    const open = this.#open(turn)
    if (open === null) return false
    const isOver = open.call === null && open.tools.size === 0 && open.expects === 'end'
    const joins = this.notices.length > 0 || this.queue.some(({ isSteering }) => isSteering)
    if (reason === 'finished' && (!isOver || joins || this.isPaused)) return false
    this.isPaused = false
    this.#end(reason)
    if (reason !== 'provider_error') this.#next()
    return true
  }

  goIdle(): boolean {
    if (!this.isHeld || this.turn !== null || this.isPaused || this.isStopping) return false
    this.isHeld = false
    return true
  }

  crash(): void {
    this.isHeld = false
    if (this.isStopping) this.isEnded = true
    if (this.turn === null || this.isPaused) return
    this.turn.crashes += 1
    if (this.turn.crashes >= 5) this.#end('crashed')
  }

  #run(id: string, mode: 'run' | 'queue' | 'steer'): string {
    if (this.phase === 'running' && mode === 'run') return 'already_running'
    const waits = this.phase === 'running' || (this.phase === 'paused' && mode !== 'run')
    const isBehind = !waits && mode === 'queue' && this.queue.length > 0
    if ((waits || isBehind) && this.queue.length >= 64) return 'limit_exceeded'
    this.admitted.push(id)
    this.queue.push({ id, isSteering: mode === 'steer' })
    if (waits) return 'admitted'
    if (isBehind) {
      this.#next()
      return 'admitted'
    }
    if (this.turn !== null) this.#end('paused')
    this.isPaused = false
    this.#begin(false, true)
    this.#promote(id)
    return 'started'
  }

  #open(turn: number): Turn | null {
    return this.isHeld && !this.isEnded && this.turn?.number === turn ? this.turn : null
  }

  #begin(isCompaction: boolean, hasInput = false): void {
    this.turns += 1
    this.turn = {
      number: this.turns,
      isCompaction,
      hasInput,
      hasOutput: false,
      calls: 0,
      call: null,
      tools: new Set(),
      expects: 'model',
      inputs: [],
      notices: [],
      crashes: 0,
      cuts: 0,
      isUndoing: false,
      taken: [],
      before: this.unanswered,
    }
  }

  #promote(id: string): void {
    this.queue = this.queue.filter((one) => one.id !== id)
    this.promoted.push(id)
    if (this.turn === null) return
    this.turn.expects = 'model'
    this.turn.taken.push(id)
    if (!this.turn.hasOutput) this.turn.inputs.push(id)
  }

  #next(): void {
    const [first] = this.queue
    if (first === undefined && this.notices.length === 0) return
    this.#begin(false, first !== undefined)
    if (first !== undefined) {
      this.#promote(first.id)
      return
    }
    this.turn?.notices.push(...this.notices.splice(0))
  }

  #end(reason: string): void {
    if (reason === 'rolled_back' && this.turn !== null) {
      this.returned.push(...this.turn.inputs)
      this.notices = [...this.turn.notices, ...this.notices]
    }
    if (reason !== 'limit' || this.turn === null || this.turn.calls > 0) this.unanswered = null
    else if (this.turn.hasInput || (this.unanswered === null && !this.turn.isCompaction))
      this.unanswered = { hasInput: this.turn.hasInput }
    if (reason !== 'rolled_back' && this.turn !== null) {
      const { number, taken: inputs, before } = this.turn
      this.nodes.set(number, { parent: this.tip, inputs, before, after: this.unanswered })
      this.tip = number
    }
    this.turn = null
  }
}

import { RefusedError } from '../core/errors.ts'
import type { OutputPiece } from './attachment.ts'
import type { AgentFollowed } from './follow-calls.ts'
import type { CallOptions, InputOf, OutputOf, ReeveVerbs } from './reeve.ts'
import type { WakeUp } from './wake-up.ts'

interface LiveVerbs extends Pick<ReeveVerbs, 'followOutput'> {
  outputStreams(input: InputOf<'outputStreams'>, options: CallOptions): Promise<OutputOf<'outputStreams'>>
}

type Turn = NonNullable<NonNullable<OutputOf<'agentLog'>['record']['agent']>['turn']>

/** A model call that is being followed. */
interface FollowedCall {
  readonly turn: number
  readonly call: number
  readonly pieces: AsyncIterator<OutputPiece>
  readonly decoders: Map<string, InstanceType<typeof TextDecoder>>
  readonly stop: AbortController
}

/** The output of the model call that is under way. It is read only while its reader waits. */
export class LiveFragments {
  readonly #verbs: LiveVerbs
  readonly #pid: string
  readonly #wakeUp: WakeUp
  readonly #options: { readonly signal: AbortSignal }
  /** What a reader that resumes has seen already. */
  readonly #from: number
  #followed: FollowedCall | null = null
  #ready: readonly AgentFollowed[] | null = null
  #isReading = false
  #failure: { readonly error: unknown } | null = null

  constructor(
    verbs: LiveVerbs,
    pid: string,
    from: number,
    wakeUp: WakeUp,
    options: { readonly signal: AbortSignal },
  ) {
    this.#verbs = verbs
    this.#pid = pid
    this.#from = from
    this.#wakeUp = wakeUp
    this.#options = options
  }

  /** Follows the call that is under way in this turn. The output of an earlier one is not read on: its entry has all of it. */
  follow(turn: Turn | null): void {
    const call = turn?.call ?? null
    const { turn: followedTurn, call: followedCall } = this.#followed ?? { turn: 0, call: 0 }
    if (followedTurn === turn?.number && followedCall === call?.number) return
    this.#end()
    this.#followed = null
    if (turn === null || call?.from === undefined) return
    const stop = new AbortController()
    const signal = AbortSignal.any([this.#options.signal, stop.signal])
    const offset = Math.max(call.from, this.#from)
    const pieces = this.#verbs.followOutput({ pid: this.#pid, offset }, { signal })[Symbol.asyncIterator]()
    this.#followed = { turn: turn.number, call: call.number, pieces, decoders: new Map(), stop }
  }

  /** The fragments that have come; null if there are none yet. */
  take(): readonly AgentFollowed[] | null {
    if (this.#failure !== null) throw this.#failure.error
    const ready = this.#ready
    this.#ready = null
    if (ready === null) this.#read()
    return ready
  }

  #end(): void {
    this.#followed?.stop.abort()
    this.#ready = null
    this.#isReading = false
  }

  #read(): void {
    const followed = this.#followed
    if (this.#isReading || followed === null || followed.stop.signal.aborted) return
    this.#isReading = true
    void this.#next(followed).then((items) => {
      // Another call is under way by now.
      if (this.#followed !== followed) return
      this.#isReading = false
      if (items === null) this.#end()
      this.#ready = items
      this.#wakeUp.give()
    })
  }

  /** Null when the call is over, and where there is no live log. */
  async #next(followed: FollowedCall): Promise<readonly AgentFollowed[] | null> {
    try {
      const next = await followed.pieces.next()
      if (next.done === true) return null
      return await this.#tagged(followed, next.value)
    } catch (error) {
      const isMissing = error instanceof RefusedError && NO_LIVE_LOG.has(error.code)
      if (!isMissing && !followed.stop.signal.aborted) this.#failure = { error }
      return null
    }
  }

  async #tagged(
    { turn, call, decoders }: FollowedCall,
    { offset, bytes, gap }: OutputPiece,
  ): Promise<readonly AgentFollowed[] | null> {
    const items: AgentFollowed[] = gap === null ? [] : [{ type: 'gap', turn, call, ...gap }]
    const end = offset + bytes.length
    if (bytes.length === 0) return items
    const asked = { pid: this.#pid, from: offset, to: end }
    const { parts, call: underWay } = await this.#verbs.outputStreams(asked, this.#options)
    // A call begins in the log before its output comes: if this one is still under way, no other wrote these bytes.
    if (underWay?.turn !== turn || underWay.call !== call) return null
    for (const [index, part] of parts.entries()) {
      const from = Math.max(part.offset, offset)
      const to = Math.min(parts[index + 1]?.offset ?? end, end)
      if (from >= to) continue
      const decoder = decoders.get(part.stream) ?? new TextDecoder()
      decoders.set(part.stream, decoder)
      // A character may be cut by the end of the piece: its first bytes come with the rest.
      const text = decoder.decode(bytes.subarray(from - offset, to - offset), { stream: true })
      items.push({ type: 'fragment', turn, call, stream: part.stream, offset: from, next: to, text })
    }
    return items
  }
}

/** Of a program without output logs, or whose logs were dropped. */
const NO_LIVE_LOG: ReadonlySet<string> = new Set(['not_served', 'no_output'])

import { createInterface } from 'node:readline'
import type { AgentFollowed } from '../../verbs/follow-calls.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { AskedPeople, errorText } from './asked-people.ts'
import { howToGoOn, needsMore, type Stopped } from './how-to-go-on.ts'
import { isOutside } from './outside-program.ts'
import { SessionInput } from './session-input.ts'
import { SessionPrinter } from './session-printer.ts'
import { missedGoal } from './turn-text.ts'

/** A second Ctrl-C within this time leaves. */
const LEAVE_MS = 2_000

const IDLE_HINT = 'Type what it should do next. Ctrl-C leaves; the agent stays.'

export interface WatchOptions {
  /** Leave when the agent is idle. */
  readonly untilIdle: boolean
  /** How many items of the past are shown. */
  readonly last: number
  /** How the person calls the agent. */
  readonly called: string
}

export type Watched =
  | { readonly type: 'left' }
  | { readonly type: 'ended'; readonly isAsWished: boolean }
  | ({ readonly type: 'stopped'; readonly isAsWished: boolean } & Stopped)

/** Shows a session as it happens, and passes on the person's input. Ctrl-C cancels the turn, a second one leaves. */
export async function watchSession(
  context: Context,
  reeve: ReeveVerbs,
  pid: string,
  { untilIdle, last, called }: WatchOptions,
): Promise<Watched> {
  const { around, print } = context
  const printer = new SessionPrinter(print, (text) => around.stdout.write(text))
  const leaving = new AbortController()
  const isPerson = around.stdin.isTTY === true && around.stdout.isTTY === true && !print.isJson
  const state: State = {
    phase: 'running',
    isAsWished: true,
    reason: null,
    isOutside: false,
    interruptedAt: 0,
    cancelling: Promise.resolve(),
  }
  const say = (text: string) => printer.line(print.colours.dim(text))
  const onInterrupt = () => {
    if (isPerson) printer.interrupted()
    interrupt(reeve, pid, state, leaving, say)
  }
  const input = new SessionInput(context, reeve, {
    pid,
    printer,
    say,
    phase: () => state.phase,
    started: () => {
      state.phase = 'running'
    },
  })
  const lines = isPerson ? createInterface({ input: around.stdin, terminal: false }) : null
  lines?.on('line', (line) => input.take(line))
  lines?.on('close', () => leaving.abort())
  process.on('SIGINT', onInterrupt)
  const stopEndingLines = print.isJson ? null : print.endLineBeforeAsides(() => printer.endLine())
  const person = isPerson ? (await reeve.whoami()).person : null
  let hasHint = false
  let asked: AskedPeople | null = null
  try {
    for await (const followed of reeve.followAgent({ pid, last }, { signal: leaving.signal })) {
      if (print.isJson) print.jsonLine(followed)
      else printer.show(followed)
      if (followed.type === 'snapshot' && !print.isJson) {
        asked?.close()
        asked = new AskedPeople(reeve, followed.page.record, {
          say: (text) => printer.line(print.colours.yellow(text)),
          ...(isPerson ? { changed: () => input.prompt(), person } : {}),
        })
        input.answers(asked)
        void asked.follow(followed.page.position)
      }
      noteState(state, followed)
      if (followed.type === 'item' && mayWithdraw(followed.item)) void asked?.check()
      if (followed.type === 'ended') return { type: 'ended', isAsWished: state.isAsWished }
      const stopped = followed.type === 'state' ? stoppedIn(state) : null
      if (stopped === null) {
        if (isPerson && followed.type !== 'fragment' && asked !== null && asked.waiting.length > 0)
          input.prompt()
        continue
      }
      if (untilIdle && !isPerson) return { type: 'stopped', isAsWished: state.isAsWished, ...stopped }
      if (!isPerson) continue
      if (needsMore(stopped)) say(`Go on: ${howToGoOn(called, stopped)}`)
      if (!hasHint && stopped.phase === 'idle') {
        say(IDLE_HINT)
        hasHint = true
      }
      input.prompt()
    }
    return { type: 'left' }
  } finally {
    // The client is closed behind this: the cancel must have reached the daemon.
    await state.cancelling
    if (!print.isJson) printer.endLine()
    stopEndingLines?.()
    asked?.close()
    lines?.close()
    process.off('SIGINT', onInterrupt)
  }
}

interface State {
  phase: OutputOf<'agentLog'>['phase']
  /** The last turn finished, and reached its goal. */
  isAsWished: boolean
  /** Why the last turn ended that was seen. */
  reason: string | null
  isOutside: boolean
  interruptedAt: number
  /** The last request to cancel the turn. */
  cancelling: Promise<void>
}

function noteState(state: State, followed: AgentFollowed): void {
  if (followed.type === 'state') state.phase = followed.phase
  if (followed.type === 'snapshot') state.isOutside = isOutside(followed.page.record.spec)
  const items =
    followed.type === 'item' ? [followed.item] : followed.type === 'snapshot' ? followed.page.items : []
  for (const { type, payload } of items)
    if (type === 'turn_ended') {
      state.isAsWished = payload.reason === 'finished' && missedGoal(payload) === undefined
      state.reason = payload.reason
    }
}

/** Whether requests to people may have been withdrawn with it. */
function mayWithdraw(item: Extract<AgentFollowed, { type: 'item' }>['item']): boolean {
  return item.type === 'turn_ended' || (item.type === 'tool_answered' && item.payload.interrupted === true)
}

/** Null: the agent works, or has ended. */
function stoppedIn({ phase, reason, isOutside }: State): Stopped | null {
  return phase === 'idle' || phase === 'paused' ? { phase, reason, isOutside } : null
}

function interrupt(
  reeve: ReeveVerbs,
  pid: string,
  state: State,
  leaving: AbortController,
  say: (text: string) => void,
): void {
  const now = Date.now()
  if (state.phase !== 'running' || now - state.interruptedAt < LEAVE_MS) {
    leaving.abort()
    return
  }
  state.interruptedAt = now
  say('(cancelling the turn; Ctrl-C again leaves)')
  state.cancelling = cancel(reeve, pid, say)
}

async function cancel(reeve: ReeveVerbs, pid: string, say: (text: string) => void): Promise<void> {
  try {
    const text = nextInputText(await reeve.cancelTurn({ pid }), pid)
    if (text !== undefined) say(`(${text})`)
  } catch (error) {
    say(errorText(error))
  }
}

/** The inputs that wait are not cancelled: the first of them begins the next turn at once. */
export function nextInputText(
  { next, queued }: { readonly next: number | null; readonly queued: readonly string[] },
  called: string,
): string | undefined {
  if (next === null) return undefined
  const more =
    queued.length === 0 ? '' : `, and ${queued.length} more ${queued.length === 1 ? 'waits' : 'wait'}`
  return `an input that waited begins turn ${next} now${more}; reeve agent cancel --drop ${called} cancels it and removes the others`
}

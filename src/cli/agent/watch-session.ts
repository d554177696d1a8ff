import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { AgentFollowed } from '../../verbs/follow-calls.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { AskedPeople, errorText } from './asked-people.ts'
import { typedContent } from './input-content.ts'
import { SESSION_HELP } from './session-help.ts'
import { SessionPrinter } from './session-printer.ts'
import { missedGoal } from './turn-text.ts'

/** A second Ctrl-C within this time leaves. */
const LEAVE_MS = 2_000

const IDLE_HINT = 'Type what it should do next. Ctrl-C leaves; the agent stays.'
const PAUSED_HINT = 'It is paused: reeve agent resume goes on, and a line that you type starts another turn.'

export interface WatchOptions {
  /** Leave when the agent is idle. */
  readonly untilIdle: boolean
  /** How many items of the past are shown. */
  readonly last: number
}

export type Watched =
  | { readonly type: 'left' }
  | { readonly type: 'idle' | 'ended'; readonly isAsWished: boolean }

/** Shows a session as it happens, and passes on the person's input. Ctrl-C cancels the turn, a second one leaves. */
export async function watchSession(
  context: Context,
  reeve: ReeveVerbs,
  pid: string,
  { untilIdle, last }: WatchOptions,
): Promise<Watched> {
  const { around, print } = context
  const printer = new SessionPrinter(print, (text) => around.stdout.write(text))
  const leaving = new AbortController()
  const isPerson = around.stdin.isTTY === true && around.stdout.isTTY === true && !print.isJson
  const state: State = {
    phase: 'running',
    isAsWished: true,
    interruptedAt: 0,
    cancelling: Promise.resolve(),
  }
  const say = (text: string) => printer.line(print.colours.dim(text))
  const onInterrupt = () => {
    if (isPerson) printer.interrupted()
    interrupt(reeve, pid, state, leaving, say)
  }
  const lines = isPerson ? createInterface({ input: around.stdin, terminal: false }) : null
  lines?.on('line', (line) => {
    send(reeve, pid, line, { state, printer, say }).catch((error: unknown) => say(errorText(error)))
  })
  lines?.on('close', () => leaving.abort())
  process.on('SIGINT', onInterrupt)
  const stopEndingLines = print.isJson ? null : print.endLineBeforeAsides(() => printer.endLine())
  let hasHint = !isPerson
  let asked: AskedPeople | null = null
  try {
    for await (const followed of reeve.followAgent({ pid, last }, { signal: leaving.signal })) {
      if (print.isJson) print.jsonLine(followed)
      else printer.show(followed)
      if (followed.type === 'snapshot' && !print.isJson) {
        asked = new AskedPeople(reeve, followed.page.record, (text) =>
          printer.line(print.colours.yellow(text)),
        )
        void asked.follow(followed.page.position)
      }
      noteState(state, followed)
      if (followed.type === 'ended') return { type: 'ended', isAsWished: state.isAsWished }
      if (followed.type !== 'state' || state.phase === 'running') continue
      if (untilIdle && !isPerson) return { type: 'idle', isAsWished: state.isAsWished }
      if (!isPerson) continue
      if (!hasHint) say(state.phase === 'paused' ? PAUSED_HINT : IDLE_HINT)
      hasHint = true
      printer.prompt()
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
  interruptedAt: number
  /** The last request to cancel the turn. */
  cancelling: Promise<void>
}

function noteState(state: State, followed: AgentFollowed): void {
  if (followed.type === 'state') state.phase = followed.phase
  const items =
    followed.type === 'item' ? [followed.item] : followed.type === 'snapshot' ? followed.page.items : []
  for (const { type, payload } of items)
    if (type === 'turn_ended')
      state.isAsWished = payload.reason === 'finished' && missedGoal(payload) === undefined
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

interface Typing {
  readonly state: State
  readonly printer: SessionPrinter
  readonly say: (text: string) => void
}

/** `!text` steers a running turn; other text waits for the next one. */
async function send(
  reeve: ReeveVerbs,
  pid: string,
  line: string,
  { state, printer, say }: Typing,
): Promise<void> {
  const isAtPrompt = printer.typed()
  const steers = line.startsWith('!')
  const text = (steers ? line.slice(1) : line).trim()
  if (text === '/help') {
    for (const help of SESSION_HELP) say(help)
    if (state.phase !== 'running') printer.prompt()
    return
  }
  if (text === '') {
    if (steers) say('(! alone says nothing: write a text behind it)')
    if (state.phase !== 'running') printer.prompt()
    return
  }
  const id = randomUUID()
  if (isAtPrompt) printer.leaveOut(id)
  const answer = await reeve.runAgent({ pid, id, ...typedContent(text), mode: modeOf(state, steers) })
  if (answer.type === 'admitted')
    say(answer.mode === 'steer' ? '(it reads this before its next step)' : `(queued, number ${answer.place})`)
  else state.phase = 'running'
}

function modeOf({ phase }: State, steers: boolean): 'run' | 'queue' | 'steer' {
  if (steers) return 'steer'
  return phase === 'paused' ? 'run' : 'queue'
}

import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { AgentFollowed } from '../../verbs/follow-calls.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { AskedPeople, errorText } from './asked-people.ts'
import { typedContent } from './input-content.ts'
import { SessionPrinter } from './session-printer.ts'

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
  | { readonly type: 'idle' | 'ended'; readonly reason: string | null }

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
  const state: State = { phase: 'running', reason: null, interruptedAt: 0 }
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
      if (followed.type === 'ended') return { type: 'ended', reason: state.reason }
      if (followed.type !== 'state' || state.phase === 'running') continue
      if (untilIdle && !isPerson) return { type: 'idle', reason: state.reason }
      if (!isPerson) continue
      if (!hasHint) say(state.phase === 'paused' ? PAUSED_HINT : IDLE_HINT)
      hasHint = true
      printer.prompt()
    }
    return { type: 'left' }
  } finally {
    if (!print.isJson) printer.endLine()
    stopEndingLines?.()
    asked?.close()
    lines?.close()
    process.off('SIGINT', onInterrupt)
  }
}

interface State {
  phase: OutputOf<'agentLog'>['phase']
  /** How the last turn ended. */
  reason: string | null
  interruptedAt: number
}

function noteState(state: State, followed: AgentFollowed): void {
  if (followed.type === 'state') state.phase = followed.phase
  const items =
    followed.type === 'item' ? [followed.item] : followed.type === 'snapshot' ? followed.page.items : []
  for (const item of items) if (item.type === 'turn_ended') state.reason = item.payload.reason
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
  reeve.cancelTurn({ pid }).catch((error: unknown) => say(errorText(error)))
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
  if (text === '') {
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

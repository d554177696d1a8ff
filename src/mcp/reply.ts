import type { ProcessRecord } from '../core/process/record.ts'
import type { InputOf, OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

interface ReplyAsked {
  readonly pid: string
  readonly typed: string
  /** Where the output ended before. */
  readonly from: number
  readonly until: Omit<NonNullable<InputOf<'wait'>['until']>, 'from'>
  readonly timeoutMs: number
}

/** How long the rest of a half-echoed line may take. */
const ECHO_MS = 150
const MAX_ECHOES = 100
/** Echoes come first in the output after the keys. */
const MAX_ECHOED_BYTES = 65_536
const NEWLINE = 10

/** Waits for a line that is printed in reply to typed text. The terminal's echo of that text is no reply. */
export async function waitForReply(
  acting: ReeveVerbs,
  { pid, typed, from: begin, until, timeoutMs }: ReplyAsked,
  signal: AbortSignal,
): Promise<OutputOf<'wait'>> {
  const by = Date.now() + timeoutMs
  const wait = (from: number, wanted = until, mostMs = timeoutMs) => {
    const leftMs = Math.max(0, Math.min(mostMs, by - Date.now()))
    return acting.wait({ pid, until: { ...wanted, from }, timeoutMs: leftMs }, { signal })
  }
  const echoes = typed
    .split(/[\r\n]+/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(0, MAX_ECHOES)
  let from = begin
  for (;;) {
    const waited = await wait(from)
    if (waited.type !== 'matched' || !hasTerminal(waited.record)) return waited
    const { text, offset } = waited.line
    // An echo comes before its reply: after the echo, a line that ends with the typed text is a reply.
    for (const line of await linesBetween(acting, pid, from, offset)) takeEcho(echoes, line)
    const printed = text.trimEnd()
    let echoed = echoes.findIndex((echo) => printed.endsWith(echo))
    if (echoed === -1) {
      echoed = echoes.findIndex((echo) => endsWithBeginning(printed, echo))
      const echo = echoes[echoed]
      if (echo === undefined) return waited
      const whole = await wait(offset, { text: echo }, ECHO_MS)
      if (whole.type !== 'matched' || whole.line.offset !== offset) return waited
    }
    // Each line is echoed once: the next equal line is a reply.
    echoes.splice(0, echoed + 1)
    from = await endOfLine(acting, pid, offset)
  }
}

/** Removes the echo that this line is, and all echoes before it. */
function takeEcho(echoes: string[], line: string): void {
  const printed = line.trimEnd()
  echoes.splice(0, echoes.findIndex((echo) => printed.endsWith(echo)) + 1)
}

async function linesBetween(acting: ReeveVerbs, pid: string, from: number, to: number): Promise<string[]> {
  if (to <= from) return []
  const { bytes } = await acting.output({ pid, offset: from, limit: Math.min(to - from, MAX_ECHOED_BYTES) })
  return new TextDecoder().decode(bytes).split('\n')
}

function hasTerminal({ spec: { pty = false } }: ProcessRecord): boolean {
  return pty !== false
}

function endsWithBeginning(printed: string, echo: string): boolean {
  for (let length = Math.min(printed.length, echo.length - 1); length > 0; length--)
    if (printed.endsWith(echo.slice(0, length))) return true
  return false
}

async function endOfLine(acting: ReeveVerbs, pid: string, from: number): Promise<number> {
  const { offset, bytes, next } = await acting.output({ pid, offset: from })
  const newline = bytes.indexOf(NEWLINE)
  return newline === -1 ? next : offset + newline + 1
}

import type { ProcessRecord } from '../core/process/record.ts'
import type { InputOf, OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

interface ReplyAsked {
  readonly pid: string
  /** What was typed, and where the output ended before. */
  readonly typed: string
  readonly from: number
  readonly until: Omit<NonNullable<InputOf<'wait'>['until']>, 'from'>
  readonly timeoutMs: number
}

/** How long a line may take to be echoed whole that has begun to be. */
const ECHO_MS = 150
const MAX_ECHOES = 100
/** Echoes lie at the beginning of what is printed after the keys were pressed. */
const MAX_ECHOED_BYTES = 65_536
const NEWLINE = 10

/** Waits for a line that is printed in reply to what was typed. What a terminal echoes of that is no reply. */
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
    // An echo comes before its reply: a line that ends in what was typed is a reply once that was echoed.
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
    // Each line is echoed once: the next one like it is a reply.
    echoes.splice(0, echoed + 1)
    from = await endOfLine(acting, pid, offset)
  }
}

/** Takes the echo that a line is, and those before it, out of what is still to be echoed. */
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

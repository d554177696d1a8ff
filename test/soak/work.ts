import type { InputOf, ProcessRecord } from 'reeve'
import type { Random } from '../simulation/random.ts'

/** How a command of the soak is connected, which decides its fate when its keeper dies. */
export const SORTS = ['pipe', 'tagged', 'direct', 'terminal', 'input', 'typed'] as const
export type Sort = (typeof SORTS)[number]

/** A command that prints numbered lines and their checksum, and exits with a predetermined code. */
export interface Piece {
  readonly key: string
  readonly sort: Sort
  readonly lines: number
  readonly code: number
  readonly request: InputOf<'spawn'>
  /** Its lines are typed, and it echoes them. */
  readonly isFed: boolean
}

export function anySort(random: Random): Sort {
  return random.weighted(SORTS, (sort) => (sort === 'pipe' || sort === 'terminal' ? 2 : 1))
}

export function newPiece(number: number, sort: Sort, random: Random): Piece {
  const isFed = sort === 'input' || sort === 'typed'
  const key = `w${number}`
  const lines = isFed ? random.between(5, 40) : random.between(50, 900)
  const code = random.between(1, 99)
  const run = isFed
    ? echoing(key, code, sort === 'typed')
    : counting(key, code, lines, random.between(60, 300), sort)
  const spec = {
    run,
    ...(sort === 'tagged' || sort === 'direct' ? { output: sort } : {}),
    ...(sort === 'terminal' || sort === 'typed' ? { pty: true } : {}),
    ...(sort === 'input' ? { stdin: 'pipe' as const } : {}),
  }
  const request = { kind: 'command', spec, lifetime: 'detached', idempotencyKey: key } as const
  return { key, sort, lines, code, request, isFed }
}

/** Every third line goes to standard error, where both are one log and their order counts. */
function counting(key: string, code: number, lines: number, burst: number, sort: Sort): string {
  const other = sort === 'tagged' ? '' : '[ $((i%3)) -eq 0 ] && exec 3>&2 || exec 3>&1; '
  return `exec 3>&1; i=0; s=0; while [ $i -lt ${lines} ]; do i=$((i+1)); ${STEP}; ${other}echo "${key} $i" >&3; \
[ $((i%${burst})) -eq 0 ] && sleep 0.${burst % 9}5; done; echo "${key} sum $s"; exit ${code}`
}

function echoing(key: string, code: number, isTerminal: boolean): string {
  const quiet = isTerminal ? 'stty -echo; ' : ''
  return `${quiet}s=0; echo "${key} ready"; while read -r i; do [ "$i" = end ] && break; ${STEP}; echo "${key} $i"; done; \
echo "${key} sum $s"; exit ${code}`
}

const STEP = 's=$(((s*31+i)%1000003))'

/** The deviations of the outcome and output of a piece from the expected ones. */
export function wrongIn(
  piece: Piece,
  { outcome, program }: Pick<ProcessRecord, 'outcome' | 'program'>,
  text: string,
  mayLose: boolean,
): string[] {
  if (outcome === null) return ['it has not ended']
  const { status, exitCode, signal, reason, evidence } = outcome
  const how = `${status} ${exitCode} ${signal} ${reason} ${evidence}`
  const printed = printedBy(piece, text)
  if (how === `failed ${piece.code} null null null`)
    return printed.isWhole ? [] : [`it lost output: ${printed.what}`]
  if (!mayLose || how !== 'abandoned null null keeper_lost keeper_lost') return [`it ended as ${how}`]
  // A keeper that died between the intent and the fork leaves nothing to run; it is never tried again.
  const livesOn = !piece.isFed && piece.sort !== 'terminal'
  const isFine = livesOn ? printed.isWhole || (program === null && text === '') : printed.isBeginning
  return isFine ? [] : [`it was abandoned, and its output is wrong: ${printed.what}`]
}

/** Whole: every line once and in order, and the right sum. A beginning: no line is wrong, but the last may be cut. */
function printedBy(piece: Piece, text: string): { isWhole: boolean; isBeginning: boolean; what: string } {
  const lines = text.split(/\r?\n/)
  const rest = lines.pop() ?? ''
  if (piece.isFed && lines.length > 0 && lines.shift() !== `${piece.key} ready`)
    return { isWhole: false, isBeginning: false, what: 'its first line is wrong' }
  let sum = 0
  let count = 0
  while (count < lines.length && lines[count] === `${piece.key} ${count + 1}`) {
    count += 1
    sum = (sum * 31 + count) % 1_000_003
  }
  const last = lines.slice(count)
  const hasSum = last.length === 1 && last[0] === `${piece.key} sum ${sum}`
  const isWhole = rest === '' && hasSum && count === piece.lines
  const isBeginning = last.length === 0 || (rest === '' && hasSum)
  return {
    isWhole,
    isBeginning,
    what: `${count} of ${piece.lines} lines, then ${JSON.stringify([...last, rest].join('\n').slice(0, 200))}`,
  }
}

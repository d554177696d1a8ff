import type { ProcessRecord } from 'reeve'
import { expect, test } from 'vitest'
import { Random } from '../simulation/random.ts'
import { newPiece, type Piece, type Sort, wrongIn } from './work.ts'

type Seen = Pick<ProcessRecord, 'outcome' | 'program'>
type Outcome = NonNullable<ProcessRecord['outcome']>

const program = {} as NonNullable<ProcessRecord['program']>
const ended = (exitCode: number): Seen => ({
  outcome: outcome({ status: 'failed', exitCode }),
  program,
})
const abandoned: Seen = {
  outcome: outcome({ status: 'abandoned', reason: 'keeper_lost', evidence: 'keeper_lost' }),
  program,
}

function outcome(known: Partial<Outcome> & Pick<Outcome, 'status'>): Outcome {
  const none = { exitCode: null, signal: null, reason: null, source: null, result: null, evidence: null }
  return { ...none, startedAt: 1, endedAt: 2, ...known }
}

function piece(sort: Sort): Piece {
  return { ...newPiece(7, sort, new Random(1)), lines: 3, code: 9 }
}

/** 1 · 31² + 2 · 31 + 3 */
const SUM = 1026
const WHOLE = `w7 1\nw7 2\nw7 3\nw7 sum ${SUM}\n`

test('the soak accepts a whole log with the right code, and nothing less', () => {
  const pipe = piece('pipe')
  expect(wrongIn(pipe, ended(9), WHOLE, false)).toEqual([])
  for (const text of [
    '',
    WHOLE.slice(0, -1),
    WHOLE.replace('w7 2\n', ''),
    WHOLE.replace('w7 2\n', 'w7 2\nw7 2\n'),
    WHOLE.replace('w7 1\nw7 2\n', 'w7 2\nw7 1\n'),
    WHOLE.replace(String(SUM), '1'),
    `${WHOLE}w7 4\n`,
    WHOLE.replaceAll('w7', 'w8'),
  ])
    expect(wrongIn(pipe, ended(9), text, true), JSON.stringify(text)).toHaveLength(1)
  expect(wrongIn(pipe, ended(8), WHOLE, true)).toHaveLength(1)
  expect(wrongIn(pipe, abandoned, WHOLE, false)).toHaveLength(1)
  expect(wrongIn(pipe, { outcome: null, program }, WHOLE, true)).toHaveLength(1)
})

test('when keepers are killed, the output of surviving programs is complete, and that of the others a prefix', () => {
  const cut = 'w7 1\nw7 2\nw7'
  for (const sort of ['pipe', 'tagged', 'direct'] as const) {
    expect(wrongIn(piece(sort), abandoned, WHOLE, true)).toEqual([])
    expect(wrongIn(piece(sort), abandoned, cut, true)).toHaveLength(1)
    expect(wrongIn(piece(sort), abandoned, '', true)).toHaveLength(1)
    expect(wrongIn(piece(sort), { ...abandoned, program: null }, '', true)).toEqual([])
  }
  expect(wrongIn(piece('terminal'), abandoned, cut.replaceAll('\n', '\r\n'), true)).toEqual([])
  expect(wrongIn(piece('terminal'), abandoned, 'w7 1\r\nw7 3\r\n', true)).toHaveLength(1)
  expect(wrongIn(piece('input'), abandoned, `w7 ready\n${cut}`, true)).toEqual([])
  // It saw the end of its input and printed the sum so far.
  expect(wrongIn(piece('input'), abandoned, 'w7 ready\nw7 1\nw7 sum 1\n', true)).toEqual([])
  expect(wrongIn(piece('input'), abandoned, 'w7 ready\nw7 1\nw7 1\n', true)).toHaveLength(1)
})

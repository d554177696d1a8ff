import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freshFolder, type Setup } from '../doors/setup.ts'
import { madeBeside } from '../durable/build.ts'
import { type Figure, figure, ratioAtMost } from '../figure.ts'
import { ANSWER_BYTES, INPUT_BYTES, play, storedBytes } from './session-program.ts'

const MAX_RATIO = 1.3
const KB = 1e3
const SHOWN_TYPES = 8

/** The bytes of a session, compared with those of its inputs and answers; and which events they are. */
export async function* storage(setup: Setup, { turns }: { turns: number }): AsyncGenerator<Figure> {
  const program = madeBeside(setup.built.reeve, import.meta.resolve('./reeve-turns.ts'))
  const [folder, empty] = [freshFolder(setup, 'session'), freshFolder(setup, 'empty')]
  await play(program, empty, { last: 0 })
  await play(program, folder, { last: turns })
  const content = turns * (INPUT_BYTES + ANSWER_BYTES)
  const stored = storedBytes(folder) - storedBytes(empty)
  const against = `${content / KB} kB of inputs and answers`
  const name = `storage of ${turns} turns`
  yield figure(name, stored / KB, 'kB', { ratio: stored / content, against }, ratioAtMost(MAX_RATIO))
  const database = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true })
  try {
    for (const { type, bytes, count } of byType(database).slice(0, SHOWN_TYPES))
      yield figure(`${name}: ${count} ${type}`, bytes / KB, 'kB', { ratio: bytes / content, against })
    for (const { type, bytes } of byTable(database).slice(0, SHOWN_TYPES))
      yield figure(`${name}: pages of ${type}`, bytes / KB, 'kB', { ratio: bytes / content, against })
  } finally {
    database.close()
  }
}

interface Share {
  readonly type: string
  readonly count: number
  readonly bytes: number
}

function byType(database: DatabaseSync): readonly Share[] {
  const rows = database.prepare(
    'select type, count(*) as count, sum(length(payload)) as bytes from event group by type order by bytes desc',
  )
  return rows.all() as unknown as Share[]
}

function byTable(database: DatabaseSync): readonly Share[] {
  const rows = database.prepare(
    'select name as type, 0 as count, sum(pgsize) as bytes from dbstat group by name order by bytes desc',
  )
  return rows.all() as unknown as Share[]
}

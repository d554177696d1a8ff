import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freshFolder, type Setup } from '../doors/setup.ts'
import { madeBeside } from '../durable/build.ts'
import { type Figure, figure, ratioAtMost } from '../figure.ts'
import { type Exported, exported, pruneAll } from './exported.ts'
import { play, playCoding, storedBytes } from './session-program.ts'

const MAX_RATIO = 1.3
const KB = 1e3
const SHOWN_SHARES = 8

/**
 * The bytes of the store of one session, compared with its entries as a user exports them (JSON lines), and with the bare texts in them. Two
 * sessions: short questions and answers without tools, and a coding agent (`coding-model.ts` describes its turns). Tool calls are pruned with
 * their segment, as retention does a day later; a figure has the bytes before that.
 */
export async function* storage(
  setup: Setup,
  { turns, codingTurns }: { readonly turns: number; readonly codingTurns: number },
): AsyncGenerator<Figure> {
  const small = madeBeside(setup.built.reeve, import.meta.resolve('./reeve-turns.ts'))
  yield* measured(setup, `${turns} turns without tools`, (folder, isEmpty) =>
    play(small, folder, { last: isEmpty ? 0 : turns }),
  )
  for (const part of ['./real-text.ts', './coding-model.ts'])
    madeBeside(setup.built.reeve, import.meta.resolve(part))
  const coding = madeBeside(setup.built.reeve, import.meta.resolve('./coding-turns.ts'))
  yield* measured(setup, `${codingTurns} turns of a coding agent`, (folder, isEmpty) =>
    playCoding(coding, folder, isEmpty ? 0 : codingTurns),
  )
}

async function* measured(
  setup: Setup,
  name: string,
  playIn: (folder: string, isEmpty: boolean) => Promise<unknown>,
): AsyncGenerator<Figure> {
  const [folder, empty] = [freshFolder(setup, 'session'), freshFolder(setup, 'empty')]
  await playIn(empty, true)
  await playIn(folder, false)
  const bytes = () => storedBytes(folder) - storedBytes(empty)
  const session = await exported(folder)
  if (session.errors > 0) throw new Error(`${session.errors} tool calls of the session failed.`)
  const all = bytes()
  const pruned = await pruneAll(folder)
  if (pruned > 0) {
    const against = `${Math.round(session.bytes / KB)} kB of exported entries`
    yield figure(`storage of ${name}, with ${pruned} processes of closed segments`, all / KB, 'kB', {
      ratio: all / session.bytes,
      against,
    })
  }
  const free = freeBytes(folder)
  yield* compared(`storage of ${name}`, bytes() - free, session)
  if (free > 0) yield figure(`storage of ${name}: free pages for later writes`, free / KB, 'kB')
  yield* shares(`storage of ${name}`, folder, session)
}

function* compared(name: string, bytes: number, { bytes: entries, textBytes }: Exported): Generator<Figure> {
  const against = `${Math.round(entries / KB)} kB of exported entries`
  yield figure(name, bytes / KB, 'kB', { ratio: bytes / entries, against }, ratioAtMost(MAX_RATIO))
  const texts = `${Math.round(textBytes / KB)} kB of texts, inputs and results in them`
  yield figure(`${name}, beside its texts`, bytes / KB, 'kB', { ratio: bytes / textBytes, against: texts })
}

/** Which events and tables the bytes are in. */
function* shares(name: string, folder: string, { bytes: entries }: Exported): Generator<Figure> {
  const against = 'exported entries'
  const database = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true })
  try {
    for (const { share, bytes, count } of byType(database).slice(0, SHOWN_SHARES))
      yield figure(`${name}: ${count} ${share}`, bytes / KB, 'kB', { ratio: bytes / entries, against })
    for (const { share, bytes } of byTable(database).slice(0, SHOWN_SHARES))
      yield figure(`${name}: pages of ${share}`, bytes / KB, 'kB', { ratio: bytes / entries, against })
  } finally {
    database.close()
  }
}

/** A file keeps some free pages after a prune, and later writes use them. */
function freeBytes(folder: string): number {
  const database = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true })
  try {
    const free = database.prepare(
      'select freelist_count * page_size as bytes from pragma_freelist_count, pragma_page_size',
    )
    return Number(free.get()?.['bytes'])
  } finally {
    database.close()
  }
}

interface Share {
  readonly share: string
  readonly count: number
  readonly bytes: number
}

function shareOf({ share, count, bytes }: Readonly<Record<string, unknown>>): Share {
  return { share: String(share), count: Number(count), bytes: Number(bytes) }
}

function byType(database: DatabaseSync): readonly Share[] {
  const rows = database.prepare(`select process.kind || ' ' || type as share, count(*) as count,
      sum(octet_length(payload) + coalesce(octet_length(packed), 0)) as bytes
    from event join process on process.id = event.process group by share order by bytes desc`)
  return rows.all().map(shareOf)
}

function byTable(database: DatabaseSync): readonly Share[] {
  const rows = database.prepare(
    'select name as share, 0 as count, sum(pgsize) as bytes from dbstat group by name order by bytes desc',
  )
  return rows.all().map(shareOf)
}

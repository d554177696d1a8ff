import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { assertSound } from '../../src/testing/conformance/sound.ts'
import { tempFolder } from '../temp-folder.ts'
import { startProgram } from './program.ts'

test('when files cannot grow any more calls fail, and nothing that was acknowledged is lost', async () => {
  const file = join(tempFolder(), 'reeve.db')
  // No file of this program may have more than 2 MB; writes beyond fail as on a disk that takes no more.
  const limited = ['sh', '-c', 'trap "" XFSZ; ulimit -f 4096; exec "$@"', 'sh']
  const spawner = await startProgram('spawner', [file, '8'], limited)
  const { code } = await spawner.says('code')
  expect(['store_unavailable', 'store_full', 'outcome_unknown']).toContain(code)
  await spawner.says('done')
  await spawner.ended()
  const acknowledged = spawner.said.flatMap((line) =>
    'acknowledged' in line ? [String(line['acknowledged'])] : [],
  )
  expect(acknowledged.length).toBeGreaterThan(100)
  const db = new DatabaseSync(file)
  expect(db.prepare('pragma integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
  db.close()
  const store = await openSqlite(file)
  for (const pid of acknowledged) expect((await store.ask({ ask: 'process', pid }))?.record.revision).toBe(2)
  await assertSound(store)
  await store.close()
})

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SLOW_FILES } from './slow-files-first.ts'

test('every file that is started first exists', () => {
  const root = join(import.meta.dirname, '../..')
  expect(SLOW_FILES.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configuration } from '../../src/daemon/load-settings.ts'
import { logAt } from '../../src/daemon/log.ts'
import { secretsOf } from '../../src/daemon/up.ts'
import { homePaths } from '../../src/home/paths.ts'
import { tempFolder } from '../temp-folder.ts'

test('a log has no pattern, no password of the store, and no value in it that would be masked in an answer', () => {
  const folder = tempFolder()
  const home = homePaths(folder)
  const store = 'postgres://u:p%40ss-word-longer@h/db'
  const redactValues = 'a "quoted" va\\lue'
  const { values } = configuration({ store, redactValues, redactPatterns: 'ACME-[0-9]{6}' }, {}, home)
  const redaction = secretsOf(home, values)
  const file = join(folder, 'log')
  const log = logAt(redaction, { fd: openSync(file, 'w') })
  const said = 'ACME-123456, p@ss-word-longer, p%40ss-word-longer, a "quoted" va\\lue, learnt-later'
  log.error({ err: new Error(said), said }, 'before')
  redaction.know(['learnt-later'])
  log.error({ said }, 'behind')
  const [before, behind] = readFileSync(file, 'utf8').trimEnd().split('\n')
  const masked = '***********, **************, ****************, *****************, '
  for (const text of [before, behind]) {
    expect(text).not.toMatch(/ACME-1|ss-word|quoted|va\\+lue/)
    expect(() => JSON.parse(text ?? '')).not.toThrow()
  }
  expect(JSON.parse(before ?? '').said).toMatch(/, learnt-later$/)
  expect(JSON.parse(behind ?? '').said.replaceAll(/\*+/g, '*')).toBe(
    `${masked}************`.replaceAll(/\*+/g, '*'),
  )
})

import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('no test is skipped without a reason', () => {
  const files = globSync('test/**/*.ts').filter((path) => !path.includes('reporting'))
  expect(files.length).toBeGreaterThan(100)
  // These take no reason for the closing summary.
  const silent = /\b(skipIf|runIf)\(|\b(test|describe|it)\.(skip|todo)\b|\b(context|ctx)\.skip\(\)|\bskip\(\)/
  expect(files.filter((path) => silent.test(readFileSync(path, 'utf8')))).toEqual([])
})

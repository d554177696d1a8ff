import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settings } from '../../src/daemon/settings.ts'

test('the page on the daemon has a line for each setting, with its flag, its variable and its default', () => {
  const page = readFileSync('docs/daemon.md', 'utf8')
  const lines = page.split('\n').filter((line) => /^\| `\w+` \| `--/.test(line))
  expect(lines).toHaveLength(settings.length)
  for (const { name, flag, variable, description, default: fallback } of settings) {
    const isNothing =
      fallback === null || (typeof fallback === 'object' && Object.keys(fallback).length === 0)
    const shown = isNothing ? '–' : `\`${fallback}\``
    expect(lines).toContain(`| \`${name}\` | \`${flag}\` | \`${variable}\` | ${shown} | ${description} |`)
  }
})

import { expect, test } from 'vitest'
import { subcommands } from '../../src/cli/subcommand-table.ts'

test('each option of a subcommand with actions is one of an action, and each action that the usage names takes its options', async () => {
  let checked = 0
  for (const name of subcommands.names) {
    const { takes, options, usage } = (await subcommands.load(name)) ?? { options: {}, usage: [] }
    if (takes === undefined) continue
    checked += 1
    const taken = new Set(Object.values(takes).flat())
    expect(Object.keys(options).filter((option) => !taken.has(option))).toEqual([])
    for (const line of usage) {
      const action = line.split(' ')[1] ?? ''
      const shown = [...line.matchAll(/--([a-z-]+)/g)].map(([_, option]) => option ?? '')
      const missing = shown.filter((option) => !(takes[action] ?? takes['otherwise'] ?? []).includes(option))
      expect([line, missing]).toEqual([line, []])
    }
  }
  expect(checked).toBeGreaterThan(0)
})

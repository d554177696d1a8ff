import { expect, test } from 'vitest'
import { OUTSIDE_NAMES, outsideProgramOf, signInRemedy } from '../../../src/core/agent/outside.ts'

test('who has not signed in to a known program is told its command, and else to use the program', () => {
  const remedies = OUTSIDE_NAMES.map((name) =>
    signInRemedy(outsideProgramOf({ agent: 'a', model: `acp/${name}` })),
  )
  const again = 'Then give the agent its input again.'
  expect(remedies).toEqual([
    `Sign in first: claude-agent-acp --cli auth login. ${again}`,
    `Sign in first: codex-acp cli login. ${again}`,
    `Sign in first: gemini. ${again}`,
    `Sign in first: goose configure. ${again}`,
    `Sign in first: opencode auth login. ${again}`,
    `Sign in first: qwen. ${again}`,
  ])
  const own = outsideProgramOf({ agent: 'a', model: 'acp/codex', program: { run: 'mine' } })
  expect(signInRemedy(own)).toBe(`Sign in first, with its own program. ${again}`)
})

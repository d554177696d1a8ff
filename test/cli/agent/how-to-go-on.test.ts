import { expect, test } from 'vitest'
import { howToGoOn } from '../../../src/cli/agent/how-to-go-on.ts'

test.each([
  ['idle', 'finished', 'reeve agent send fixer "…"'],
  ['idle', 'limit:context', 'reeve agent send fixer "…"'],
  [
    'idle',
    'limit:cost',
    'reeve agent allow fixer cost=<amount> adds to its limit, then reeve agent send fixer "…"',
  ],
  [
    'idle',
    'setup_failed',
    'reeve agent model fixer <provider/model> chooses another model, then reeve agent send fixer "…"',
  ],
  [
    'paused',
    null,
    'reeve agent resume fixer; reeve agent send fixer "…" would end the paused turn and begin another',
  ],
] as const)('an agent that is %s after %s goes on with a command that is named', (phase, reason, text) => {
  expect(howToGoOn('fixer', { phase, reason, isOutside: false })).toBe(text)
})

test('of an agent whose program could not be started no other model is offered', () => {
  const stopped = { phase: 'idle', reason: 'setup_failed', isOutside: true } as const
  expect(howToGoOn('fixer', stopped)).toBe(
    'reeve agent send fixer "…" starts its program again once that is repaired; reeve agent --with <agent> "…" begins with another',
  )
})

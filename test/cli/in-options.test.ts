import { ReeveError } from 'reeve'
import { expect, test } from 'vitest'
import { inOptions } from '../../src/cli/in-options.ts'
import { agent } from '../../src/cli/subcommands/agent.ts'
import { schedule } from '../../src/cli/subcommands/schedule.ts'
import { trigger } from '../../src/cli/subcommands/trigger.ts'

const SUBCOMMANDS = { agent, schedule, trigger }

/** The refusal of one field, as the subcommand prints it after this option was typed. */
function said(
  name: keyof typeof SUBCOMMANDS,
  [option, typed]: readonly [string, string],
  issue: { readonly path: readonly (string | number)[]; readonly code?: string; readonly message?: string },
): string {
  const { fields = {}, options } = SUBCOMMANDS[name]
  const found = { code: 'too_small', message: 'Too small: expected number to be >=1', minimum: 1, ...issue }
  const refused = new ReeveError('invalid_input', 'the verb', 'its fields', { details: { issues: [found] } })
  const texts = new Map([[option, [typed]]])
  const { message, remedy } = inOptions(refused, { fields, specs: options, texts })
  return `${message} ${remedy}`
}

const LENGTH = { message: 'Too small: expected string to have >=1 characters' }

test.each([
  ['agent', 'max-turns', ['maxTurns']],
  ['agent', 'last', ['last']],
  ['trigger', 'lines', ['limit']],
  ['trigger', 'max-bytes', ['source', 'maxBytes']],
] as const)('reeve %s names --%s, and not the field of the verb', (name, option, path) => {
  expect(said(name, [option, '0'], { path })).toBe(`--${option} was given 0. It takes 1 or more.`)
})

test.each([
  ['agent', 'tool', ['spec', 'tools', 0]],
  ['agent', 'system', ['agents', 1, 'system']],
  ['agent', 'path', ['paths', 0]],
  ['schedule', 'label', ['process', 'label']],
  ['schedule', 'note', ['note']],
  ['trigger', 'files', ['source', 'glob']],
  ['trigger', 'shell', ['process', 'spec', 'run']],
] as const)('reeve %s says how long --%s is', (name, option, path) => {
  expect(said(name, [option, ''], { path, ...LENGTH })).toBe(
    `--${option} was given . It takes a character or more.`,
  )
})

test('an option that was not typed is not blamed', () => {
  expect(said('agent', ['tool', ''], { path: ['spec', 'system'], ...LENGTH })).toBe('the verb its fields')
})

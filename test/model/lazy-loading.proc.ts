import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Prints the packages of the AI SDK that a program has loaded after each step. */
const PROGRAM = `
import { registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({ load: (url, context, next) => {
  const found = /node_modules\\/(@ai-sdk\\/[^/]+|ai)\\//.exec(url)
  if (found) loaded.add(found[1])
  return next(url, context)
} })
const show = () => console.log(JSON.stringify([...loaded].sort()))
await import('./src/index.ts')
await import('./src/daemon/up.ts')
const { Models } = await import('./src/model/models.ts')
const { modelOptions } = await import('./src/model/options.ts')
const { systemClock } = await import('./src/store/system-clock.ts')
const keys = () => ({ secrets: {}, env: { ANTHROPIC_API_KEY: 'x' } })
const models = new Models(modelOptions.parse({}), { clock: systemClock, keys })
await models.open('scripted/demo', '/')
show()
await models.open('anthropic/claude-opus-5-5', '/')
show()
`

test('the AI SDK is loaded with the first model of a provider, and then only the package of that provider', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=reeve-source',
    '--input-type=module',
    '-e',
    PROGRAM,
  ])
  const lines = stdout.split('\n').filter((line) => line.startsWith('['))
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    [],
    ['@ai-sdk/anthropic', '@ai-sdk/provider', '@ai-sdk/provider-utils'],
  ])
})

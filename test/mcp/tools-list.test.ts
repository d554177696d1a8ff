import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { ERAS, overStdio } from './connected.ts'

/** Keywords that validators, grammar engines and model APIs all understand. */
const KEYWORDS = [
  'type',
  'description',
  'enum',
  'items',
  'properties',
  'required',
  'minimum',
  'maximum',
  'default',
]
const TYPES = ['object', 'array', 'string', 'integer', 'boolean']
/** Clients add names of their own: the longest list, that of opencode, has 840 characters more. */
const MAX_CHARS = 9_150

async function listed(era: (typeof ERAS)[number]) {
  const reeve = await embedTemp()
  const client = await overStdio(reeve, { era })
  return { tools: (await client.listTools()).tools, instructions: client.getInstructions() ?? '' }
}

for (const era of ERAS) {
  test(`in the ${era} era the tools as clients send them to a model have at most ${MAX_CHARS} characters`, async () => {
    const { tools } = await listed(era)
    const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    expect(sent).toHaveLength(13)
    expect(JSON.stringify(sent).length).toBeLessThanOrEqual(MAX_CHARS)
  })

  test(`in the ${era} era input schemas are plain, every argument is described, and there are no output schemas`, async () => {
    const { tools } = await listed(era)
    for (const { name, inputSchema, outputSchema } of tools) {
      expect(outputSchema, name).toBeUndefined()
      walk(inputSchema, name)
    }
  })

  test(`in the ${era} era a client that defers tools loads start and wait, and finds the others by purpose`, async () => {
    const { tools } = await listed(era)
    const always = tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true)
    expect(always.map(({ name }) => name)).toEqual(['process_start', 'process_wait'])
    for (const { name, _meta } of tools) expect(_meta?.['anthropic/searchHint'], name).toMatch(/\w+ \w+/)
    const start = tools.find(({ name }) => name === 'process_start')
    expect(start?._meta?.['anthropic/searchHint']).toMatch(/run tests.*long.running command/)
  })
}

test('the instructions say when to prefer Reeve to a shell, when not, and name only tools that exist', async () => {
  const { tools, instructions } = await listed('modern')
  expect(instructions).toMatch(/[Pp]refer process_start to your own shell/)
  expect(instructions).toMatch(/your own shell is (fine|as good)/)
  expect(instructions.length).toBeLessThan(1_200)
  const names = tools.map(({ name }) => name)
  for (const [named] of instructions.matchAll(/\bprocess_\w+/g)) expect(names).toContain(named)
})

function walk(schema: object, path: string, isRoot = true): void {
  for (const key of Object.keys(schema)) expect(KEYWORDS, `${path}: ${key}`).toContain(key)
  const { type, description, items, properties, required } = Object(schema)
  expect(TYPES, path).toContain(type)
  if (!isRoot) expect(description, path).toMatch(/\w/)
  if (type === 'array') walk({ description: 'of an array', ...items }, `${path}[]`, false)
  if (type !== 'object') return
  // Some model APIs refuse objects without a description.
  if (!isRoot) expect(Object.keys(Object(properties)), path).not.toEqual([])
  for (const [name, of] of Object.entries(Object(properties))) walk(Object(of), `${path}.${name}`, false)
  for (const name of required ?? []) expect(Object.keys(Object(properties)), path).toContain(name)
}

import { expect, test } from 'vitest'
import { elicit } from '../../../src/agent/mcp/elicitation.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { embedTemp } from '../../embed-temp.ts'

const PROPERTIES = {
  name: { type: 'string', title: 'Name' },
  note: { type: 'string' },
  level: { type: 'string', enum: ['low', 'high'], default: 'low' },
  count: { type: 'integer', default: 3 },
  tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } },
  sure: { type: 'boolean' },
}

/** Answers each question of a form by the text of its last line. Returns the result, and those lines with their choices. */
async function filled(schema: JsonObject, reply: (line: string) => string | null) {
  const reeve = await embedTemp()
  const { record } = await reeve.spawn({ kind: 'external', spec: { description: 'an agent' } })
  const asked: [string, readonly string[] | null][] = []
  const asker = { verbs: reeve, agent: record.pid, owner: undefined, server: 'forms' }
  const result = elicit(
    asker,
    { message: 'Fill it.', requestedSchema: schema },
    'form',
    AbortSignal.timeout(60_000),
  )
  let isOver = false
  const over = result.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const { approvals } = await reeve.approvals({ limit: 1 })
    const [approval] = approvals
    if (approval?.request.type === 'question') {
      const { text, choices } = approval.request
      const line = text.split('\n').at(-1) ?? ''
      asked.push([line, choices])
      const value = reply(line)
      if (value === null) await reeve.deny({ id: approval.id })
      else await reeve.reply({ id: approval.id, value })
    } else await Promise.race([over, new Promise(setImmediate)])
  }
  return { result: await result, asked }
}

test('an optional field can be left out, one with a default takes it, and several values are a list', async () => {
  const replies: Readonly<Record<string, string>> = { name: 'Ada', tags: 'a, c', sure: 'yes' }
  const { result, asked } = await filled(
    { type: 'object', properties: PROPERTIES, required: ['name', 'sure'] },
    (line) => {
      const field = line.split(/[ (]/)[0]?.toLowerCase() ?? ''
      return replies[field] ?? (field === 'level' ? 'skip' : '-')
    },
  )
  expect(result).toEqual({
    action: 'accept',
    content: { name: 'Ada', level: 'low', count: 3, tags: ['a', 'c'], sure: true },
  })
  expect(asked).toEqual([
    ['Name', null],
    ['note (optional; - leaves it out)', null],
    ['level (skip takes the default: low)', ['low', 'high', 'skip', 'decline']],
    ['count (a number) (- takes the default: 3)', null],
    ['tags (any of a, b, c; commas between them) (optional; - leaves it out)', null],
    ['sure', ['yes', 'no', 'decline']],
  ])
})

test('a required field without a default takes every text; a denial declines the form', async () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  expect((await filled(schema, () => '-')).result).toEqual({ action: 'accept', content: { name: '-' } })
  expect((await filled(schema, () => null)).result).toEqual({ action: 'decline' })
})

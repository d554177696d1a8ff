import * as z from 'zod'
import { actor } from '../../verbs/shapes/actor.ts'
import { environmentShape } from '../../verbs/shapes/environment.ts'
import { storedEvent } from '../../verbs/shapes/event.ts'
import { filter } from '../../verbs/shapes/filter.ts'
import { json } from '../../verbs/shapes/json.ts'
import { gap, line } from '../../verbs/shapes/output.ts'
import { owner } from '../../verbs/shapes/owner.ts'
import { rawBytes } from '../../verbs/shapes/raw-bytes.ts'
import { record, shownRecord } from '../../verbs/shapes/record.ts'
import { recoveryReport } from '../../verbs/shapes/recovery-report.ts'
import { registration } from '../../verbs/shapes/registration.ts'
import { grantShape, session, turn } from '../../verbs/shapes/session.ts'
import { killReport, stopReport } from '../../verbs/shapes/stop-report.ts'

export type Schema = Record<string, unknown>

/** Schemas that several verbs share are components of the document. */
const NAMED: readonly (readonly [string, z.ZodType])[] = [
  ['ProcessRecord', record],
  ['ShownProcess', shownRecord],
  ['StoredEvent', storedEvent],
  ['Session', session],
  ['Turn', turn],
  ['Grant', grantShape],
  ['Environment', environmentShape],
  ['Owner', owner],
  ['Filter', filter],
  ['Registration', registration],
  ['RecoveryReport', recoveryReport],
  ['StopReport', stopReport],
  ['KillReport', killReport],
  ['Gap', gap],
  ['Line', line],
  ['Actor', actor],
  ['Bytes', rawBytes],
  ['Json', json],
]

/** Schemas that zod cannot convert. */
const WRITTEN_OUT = new Map<z.core.$ZodType, Schema>([
  [actor, { type: 'string', pattern: '^(host|(session|process|kernel):.+)$' }],
  [
    rawBytes,
    {
      type: 'object',
      description: 'bytes, as base64',
      properties: { $bytes: { type: 'string', contentEncoding: 'base64' } },
      required: ['$bytes'],
      additionalProperties: false,
    },
  ],
  [json, { description: 'any JSON' }],
])

/** JSON Schemas of verbs, and the components that they refer to. */
export class Schemas {
  readonly components: Record<string, Schema> = {}
  readonly #names = z.registry<{ id: string }>()

  constructor() {
    for (const [id, type] of NAMED) this.#names.add(type, { id })
  }

  of(type: z.ZodType, io: 'input' | 'output'): Schema {
    const {
      $schema: _,
      $defs = {},
      ...schema
    } = z.toJSONSchema(type, {
      io,
      metadata: this.#names,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        Object.assign(jsonSchema, WRITTEN_OUT.get(zodSchema))
        const { description } = z.globalRegistry.get(zodSchema) ?? {}
        if (description !== undefined) jsonSchema.description ??= description
        delete jsonSchema.id
      },
    }) as Schema & { $defs?: Record<string, Schema> }
    for (const [name, part] of Object.entries($defs)) this.components[name] ??= withComponentRefs(part)
    return withComponentRefs(schema)
  }
}

/** References point at the document's components. */
function withComponentRefs(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Schema
}

import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { content, MAX_SHOWN_BYTES, objectName, shownObject } from './shapes/object.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const object = verb({
  summary: 'Reads an object in the view of a process: its newest version, or an earlier one.',
  description: 'A process reads in its own view alone. Knowing the id of an object gives no right to it.',
  route: 'GET /processes/{pid}/object',
  needs: 'read',
  input: () =>
    z.strictObject({
      pid: processRef.describe('the process whose view it is'),
      name: objectName,
      version: count.min(1).exactOptional().describe('the newest if it is left out'),
      maxBytes: count
        .max(MAX_SHOWN_BYTES)
        .default(MAX_SHOWN_BYTES)
        .describe('how much of the content is shown'),
    }),
  output: () => z.strictObject({ object: shownObject, ...content }),
  codes: [...processCodes, 'not_found'],
})

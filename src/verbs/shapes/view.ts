import * as z from 'zod'
import { VIEW_MODES } from '../../core/object/view.ts'
import { count } from './scalars.ts'

const mode = z.enum(VIEW_MODES)

/** Which objects a process sees besides those of its own namespace. */
export const view = z.strictObject({
  mode,
  bases: z.array(
    z.strictObject({
      pid: z.string(),
      through: count,
      since: count.exactOptional(),
      roots: z.array(z.string()).nullable(),
      mode,
    }),
  ),
  since: count.exactOptional(),
})

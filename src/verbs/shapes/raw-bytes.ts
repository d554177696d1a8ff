import * as z from 'zod'

export const rawBytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes')

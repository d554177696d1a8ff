export const RIGHTS = [
  'read',
  'write',
  'execute',
  'delete',
  'signal',
  'grant',
  'approve',
  'admin',
  'link',
  'materialize',
  'diff',
] as const

/** What an actor may do with a resource. */
export type Right = (typeof RIGHTS)[number]

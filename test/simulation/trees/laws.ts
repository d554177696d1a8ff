/** The laws of agents below agents. A planted bug names the one that it breaks. */
export const LAWS = {
  oneWriter: 'two live agents never hold write on overlapping paths',
  writeBack: 'paths are back with those above after each end, and never before',
  refuseWrite: 'who may write is who holds the path',
  reported: 'each turn that the parent asked for is reported once',
  groups: 'a group gives one report, in the order of its members',
} as const

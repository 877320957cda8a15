// @ts-check
// The strata: who may import whom, and why. A folder imports from a smaller rank only.
//
//   0   proto                                                words
//   1   machines                                             lives
//   2a  src/contract, then src/conversation journal scenario ports, fold, memory, stories
//   2b  src/verify                                           judge
//   3   src/runtime                                          life
//   4   src/providers/* wire journals inspect                adapters
//   4b  src/testing                                          proof
//   5   src/cli                                              host
//
// Types count as imports. Every rule is proved on a planted crossing by test/repository/import-rules.test.ts, which fails
// when a rule has no proof. `npm run imports` runs the rules and makes sure that every source file was looked at.

const proto = '^proto/';
const machines = '^machines/';
const contract = '^src/contract/';
const memory = '^src/(conversation|journal|scenario)/';
const verify = '^src/verify/';
const runtime = '^src/runtime/';
const adapter = '^src/(providers/[^/]+|wire|journals|inspect)/';
const testing = '^src/testing/';
const arbitraries = '^src/testing/arbitraries/';
const cli = '^src/cli/';
const packages = '(^|/)node_modules/';

/** @type {Required<Pick<import('dependency-cruiser').IConfiguration, 'forbidden' | 'options'>>} */
export default {
  forbidden: [
    {
      name: 'words-import-nothing',
      comment: 'What can be said does not depend on who says it; the words need their run-time and nothing else.',
      severity: 'error',
      from: { path: proto },
      to: { pathNot: [proto, `${packages}@bufbuild/protobuf/`] },
    },
    {
      name: 'machines-import-nothing-of-src',
      comment: 'A machine is a table that a stranger must be able to step, with nothing of the runtime at hand.',
      severity: 'error',
      from: { path: machines },
      to: { path: '^src/' },
    },
    {
      name: 'machines-import-only-xstate',
      comment:
        'A machine that reached for a stream, a clock or the disk would not step the same way twice; xstate is the one language of the tables.',
      severity: 'error',
      from: { path: machines },
      to: { pathNot: [machines, '^proto/gen/', `${packages}xstate/`] },
    },
    {
      name: 'contract-stands-on-words-and-lives',
      comment:
        'The outside depends on the ports, so the ports depend on nothing that may change with an implementation.',
      severity: 'error',
      from: { path: contract },
      to: { path: '^src/', pathNot: contract },
    },
    {
      name: 'memory-stands-on-contract',
      comment: 'Folding events, reading a journal and reading a story must not need anything that runs.',
      severity: 'error',
      from: { path: memory },
      to: { path: '^src/', pathNot: [contract, memory] },
    },
    {
      name: 'memory-folders-do-not-meet',
      comment:
        'Conversation, journal and scenario are three ways to look at one history; each is read, tested and replaced alone.',
      severity: 'error',
      from: { path: '^src/(conversation|journal|scenario)/' },
      to: { path: memory, pathNot: '^src/$1/' },
    },
    {
      name: 'verify-never-runs',
      comment:
        "A judge who shares the defendant's code shares its mistakes: only the machines and the records are common ground.",
      severity: 'error',
      from: { path: verify },
      to: { path: '^src/', pathNot: [verify, contract, memory] },
    },
    {
      name: 'runtime-is-handed-its-adapters',
      comment:
        'The host chooses a provider, a journal and an inspector and hands them in, so the runtime knows the ports alone.',
      severity: 'error',
      from: { path: runtime },
      to: { path: '^src/', pathNot: [runtime, contract, memory, verify] },
    },
    {
      name: 'adapters-never-import-runtime',
      comment:
        'An adapter stands on the ports, so that each can be replaced, and tried against the conformance suite, without a runtime.',
      severity: 'error',
      from: { path: adapter },
      to: { path: '^src/(runtime|testing|cli)/|^src/[^/]+$' },
    },
    {
      name: 'adapters-do-not-meet',
      comment: 'Adapters are replaceable one at a time; what two of them share belongs to the contract.',
      severity: 'error',
      from: { path: '^src/(providers/[^/]+|wire|journals|inspect)/' },
      to: { path: adapter, pathNot: '^src/$1/' },
    },
    {
      name: 'testing-drives-only-the-scripted-far-side',
      comment:
        'What hosts test with must load no vendor, disk or server: it runs the runtime against the scripted provider.',
      severity: 'error',
      from: { path: testing },
      to: { path: [adapter, cli, '^src/[^/]+$'], pathNot: '^src/providers/scripted/' },
    },
    {
      name: 'entry-point-chooses-nothing',
      comment:
        'Whoever imports the package gets the runtime and the contract; a driver, a disk or a server is loaded by its own sub-path or not at all.',
      severity: 'error',
      from: { path: '^src/[^/]+$' },
      to: { path: [adapter, testing, cli] },
    },
    {
      name: 'cli-is-the-host',
      comment: 'The command line is the one place that chooses; a library that imported it would choose for everyone.',
      severity: 'error',
      from: { pathNot: cli },
      to: { path: cli },
    },
    {
      name: 'node-only-at-the-edge',
      comment:
        'The core runs in a browser, a worker, Deno and Bun, so only the folders that exist for Node name its modules.',
      severity: 'error',
      from: {
        path: '^(machines|src)/',
        pathNot: ['^src/(cli|journals)/', '^src/inspect/server(/|\\.ts$)', '^src/testing/loopback(/|\\.ts$)'],
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'commander-only-in-cli',
      comment: 'A host that embeds the library does not load a parser of command lines.',
      severity: 'error',
      from: { pathNot: cli },
      to: { path: `${packages}commander/` },
    },
    {
      name: 'fast-check-only-in-arbitraries',
      comment:
        'fast-check is an optional peer: whoever does not ask for the arbitraries by their sub-path may not have it.',
      severity: 'error',
      from: { pathNot: arbitraries },
      to: { path: [arbitraries, `${packages}fast-check/`] },
    },
    {
      name: 'only-declared-packages',
      comment:
        'A package that is installed here for development, or by chance, is not there on the machine of whoever installs us.',
      severity: 'error',
      from: { path: '^(machines|src)/' },
      to: { path: packages, dependencyTypesNot: ['npm', 'npm-peer', 'npm-optional'] },
    },
    {
      name: 'only-what-resolves',
      comment: 'An import that leads nowhere would escape every rule above.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'source-stands-alone',
      comment: 'Tests, checks and compiled output look at the source; the source never looks at them.',
      severity: 'error',
      from: { path: '^(machines|src)/' },
      to: { path: '^(test|dist|docs|\\.ci)/' },
    },
    {
      name: 'no-circular',
      comment:
        'Two files that need each other are one thing in two places, and neither can be read, tested or moved alone.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: packages },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};

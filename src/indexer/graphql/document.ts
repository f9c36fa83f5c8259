/** Parses the text of a document to an operation that is valid for the schema. */
import {
  type ASTNode,
  type ASTVisitor,
  type DefinitionNode,
  type DocumentNode,
  FieldsOnCorrectTypeRule,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  KnownArgumentNamesRule,
  Lexer,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  type OperationDefinitionNode,
  ProvidedRequiredArgumentsRule,
  parse,
  Source,
  specifiedRules,
  TokenKind,
  type ValidationContext,
  ValuesOfCorrectTypeRule,
  validate,
} from 'graphql';
import { GraphqlFailure } from './failure.ts';
import { Allowance, checkLimit, type QueryLimits } from './limits.ts';
import { SCHEMA } from './schema.ts';

export interface Operation {
  readonly definition: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/**
 * Rules that the compiler applies itself, with Hasura's messages, or that Hasura does not have. Fields are checked
 * below.
 */
const NOT_USED = new Set<unknown>([
  FieldsOnCorrectTypeRule,
  KnownArgumentNamesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  ProvidedRequiredArgumentsRule,
  ValuesOfCorrectTypeRule,
]);
const RULES = [...specifiedRules.filter((rule) => !NOT_USED.has(rule)), fieldsExist];

function fieldsExist(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const type = context.getParentType();
      if (type === undefined || type === null || context.getFieldDef()) return;
      const message = `field '${node.name.value}' not found in type: '${type.name}'`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}

/** @throws GraphqlFailure */
export function readOperation(
  text: string,
  name: string | undefined,
  limits: QueryLimits,
): Operation {
  checkLimit(text.length, limits.documentLength, 'characters of a document');
  const document = parseDocument(text, limits);
  const definition = chooseOperation(document, name);
  const [error] = validate(SCHEMA, document, RULES, { maxErrors: 1 });
  if (error !== undefined) throw failureOf(error, document);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  return { definition, fragments };
}

function failureOf({ message, nodes }: GraphQLError, document: DocumentNode): GraphqlFailure {
  // Only one error has no node: a rule gave up because it had compared too many fields.
  if (nodes === undefined) {
    return new GraphqlFailure(
      'limit-exceeded',
      'the document has too many fields of the same name',
    );
  }
  return new GraphqlFailure('validation-failed', message, pathOf(document, nodes[0]));
}

function parseDocument(text: string, limits: QueryLimits): DocumentNode {
  try {
    checkTokens(text, limits);
    return parse(text, { noLocation: true });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw new GraphqlFailure('validation-failed', `not a valid graphql query: ${error.message}`);
  }
}

/** The parser recurses for each bracket, and validation takes time for each token, so both are counted first. */
function checkTokens(text: string, limits: QueryLimits): void {
  const lexer = new Lexer(new Source(text));
  const tokens = new Allowance(limits.tokens, 'tokens');
  let nesting = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens.add(1, '$');
    switch (token.kind) {
      case TokenKind.BRACE_L:
      case TokenKind.BRACKET_L:
      case TokenKind.PAREN_L:
        nesting += 1;
        checkLimit(nesting, limits.nesting, 'brackets within each other');
        break;
      case TokenKind.BRACE_R:
      case TokenKind.BRACKET_R:
      case TokenKind.PAREN_R:
        nesting -= 1;
    }
  }
}

function isOperation(definition: DefinitionNode): definition is OperationDefinitionNode {
  return definition.kind === Kind.OPERATION_DEFINITION;
}

function chooseOperation(
  { definitions }: DocumentNode,
  name: string | undefined,
): OperationDefinitionNode {
  const operations = definitions.filter(isOperation);
  const chosen =
    name === undefined
      ? operations.length === 1
        ? operations[0]
        : undefined
      : operations.find((operation) => operation.name?.value === name);
  if (chosen === undefined) {
    throw new GraphqlFailure(
      'validation-failed',
      name === undefined
        ? 'exactly one operation has to be present in the document when operationName is not specified'
        : `no such operation found in the document: '${name}'`,
    );
  }
  if (chosen.operation !== 'query') {
    throw new GraphqlFailure('validation-failed', `no ${chosen.operation}s exist`);
  }
  return chosen;
}

/** The path of a field as Hasura writes it; `$` for anything else. */
function pathOf(document: DocumentNode, target: ASTNode | undefined): string {
  const find = (node: ASTNode, path: string): string | undefined => {
    if (node === target) return path;
    if (!('selectionSet' in node)) return undefined;
    for (const selection of node.selectionSet?.selections ?? []) {
      const name = 'name' in selection ? `.${selection.name.value}` : '';
      const found = find(selection, `${path}.selectionSet${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const definition of document.definitions) {
    const found = find(definition, '$');
    if (found !== undefined) return found;
  }
  return '$';
}

#include "operators/testing/evaluate.h"

#include "operators/evaluator.h"

namespace weir::operators {

Value LiteralOf(const Column& column) {
  Value v = Value::Null(column.type);
  if (column.IsNull(0)) return v;
  v.null = false;
  switch (column.type.physical()) {
    case Physical::kBool:
      v.boolean = column.bools[0] != 0;
      break;
    case Physical::kInt64:
      v.integer = column.ints[0];
      break;
    case Physical::kDouble:
      v.number = column.doubles[0];
      break;
    case Physical::kInt128:
      v.decimal = column.decimals[0];
      break;
    case Physical::kString:
      v.text = std::string(column.strings[0]);
      break;
  }
  return v;
}

plan::ExprPtr Literal(const Type& type, const std::string& text) {
  Value value = Value::Null(type);
  if (text != "NULL") {
    if (type.kind == TypeKind::kInterval) {
      value.null = false;
      value.integer = std::stoll(text);
    } else {
      Batch batch;
      FillBatch(Schema{{{"x", type}}}, {{text}}, batch);
      value = LiteralOf(batch.column(0));
    }
  }
  plan::ExprPtr expr = plan::MakeLiteral(std::move(value), {});
  expr->type = type;
  return expr;
}

plan::ExprPtr Column0(int column, const Type& type) { return plan::MakeColumn(column, type, {}); }

std::string EvaluateExpr(const plan::Expr& expr, const Schema& schema, const TextRow& input,
                         const SessionZone& zone) {
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::Compile(expr, schema, zone);
  if (!evaluator) return "!! " + evaluator.error().message();
  // The row is the second of three, and the only one asked for: results must be at its own index.
  Batch batch;
  FillBatch(schema, {input, input, input}, batch);
  RowErrors errors;
  errors.Start(3);
  const uint32_t row = 1;
  const Column& column = (*evaluator)->Evaluate(batch, std::span(&row, 1), errors);
  if (!errors.empty()) return "! " + errors.errors()[0].code + ": " + errors.errors()[0].message;
  return ShowValue(column, row);
}

std::string Evaluate(plan::Fn fn, const Type& type, const std::vector<Argument>& args,
                     bool literals, const SessionZone& zone) {
  Schema schema;
  TextRow row;
  std::vector<plan::ExprPtr> list;
  for (size_t i = 0; i < args.size(); ++i) {
    // A NULL of no type and an interval are literals always.
    const bool literal = literals || args[i].type.kind == TypeKind::kNull ||
                         args[i].type.kind == TypeKind::kInterval;
    if (literal) {
      list.push_back(Literal(args[i].type, args[i].text));
    } else {
      list.push_back(Column0(static_cast<int>(schema.fields.size()), args[i].type));
      schema.fields.push_back({"c" + std::to_string(i), args[i].type});
      row.push_back(args[i].text);
    }
  }
  const plan::ExprPtr call = plan::MakeCall(fn, type, std::move(list), {});
  return EvaluateExpr(*call, schema, row, zone);
}

}  // namespace weir::operators

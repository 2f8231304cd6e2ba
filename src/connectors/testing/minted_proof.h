// The friend that may mint proofs, for test programs that take no symbol of store/.
#ifndef WEIR_CONNECTORS_TESTING_MINTED_PROOF_H_
#define WEIR_CONNECTORS_TESTING_MINTED_PROOF_H_

#include "flow/delivery.h"

namespace weir::store {

class Store {
 public:
  static flow::SealedProof Mint(const Lineage& lineage, EpochId through) {
    return {lineage, through};
  }
};

}  // namespace weir::store

#endif  // WEIR_CONNECTORS_TESTING_MINTED_PROOF_H_

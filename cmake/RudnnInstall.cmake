# Install tree and exported package (find_package(Rudnn)).
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY RUDNN_LIBRARIES)
get_property(tools GLOBAL PROPERTY RUDNN_TOOLS)
if(RUDNN_STATIC)
  # A folder to carry to a machine without LLVM: the tools and the two libraries that
  # compiled code calls. The package for other projects comes from the shared build.
  install(TARGETS ${tools} RUNTIME DESTINATION bin)
  install(TARGETS rudnn_rt LIBRARY DESTINATION lib)
  get_filename_component(libomp ${RUDNN_LIBOMP} REALPATH)
  install(FILES ${libomp} DESTINATION lib RENAME libomp.so.5)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/rudnn)
  return()
endif()
if(TARGET rudnn_rt)
  list(APPEND libraries rudnn_rt)
endif()

install(TARGETS ${libraries} EXPORT RudnnTargets
  ARCHIVE DESTINATION lib
  LIBRARY DESTINATION lib
  INCLUDES DESTINATION include)
install(TARGETS ${tools} RUNTIME DESTINATION bin)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/include/
  DESTINATION include
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.hpp")
# What another project's .td files include.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/dialect/ DESTINATION include/rudnn/dialect
  FILES_MATCHING PATTERN "*.td")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/rudnn)

install(EXPORT RudnnTargets NAMESPACE Rudnn:: DESTINATION ${RUDNN_INSTALL_CMAKEDIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/RudnnConfig.cmake.in
  ${PROJECT_BINARY_DIR}/RudnnConfig.cmake INSTALL_DESTINATION ${RUDNN_INSTALL_CMAKEDIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RudnnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/RudnnConfig.cmake
  ${PROJECT_BINARY_DIR}/RudnnConfigVersion.cmake
  DESTINATION ${RUDNN_INSTALL_CMAKEDIR})
